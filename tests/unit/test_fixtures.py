"""The benchmarks in fixtures/ are what their pages say, checked with none of the code that wrote them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator.jobs import JOBS
from leaderboard.benchmarks import manifest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
BENCHMARKS = tuple(sorted(path.parent.name for path in FIXTURES.glob("*/benchmark.json")))
LIMIT = 10_000_000

# Runs in a benchmark's folder: every baseline again, on gold whose answers are gone, must give the file it has.
BLIND = """
import json, baselines
from pathlib import Path
def read(name): return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").split("\\n")[:-1]]
def split(name): return read(f"splits/{name}.jsonl") if Path(f"splits/{name}.jsonl").exists() else []
def table(name): return [row.split("\\t") for row in Path(name).read_text(encoding="utf-8").split("\\n")[:-1]]
HIDDEN = ("label", "evidence", "group", "slices", "answers", "filtered", "facts", "human", "system")
def blank(line):
    for passage in line.get("passages", []):
        passage["facts"], passage["exhaustivelyAnnotatedProperties"] = [], []
    return {key: value for key, value in line.items() if key not in HIDDEN}
TRAIN = {"simple": "simple.tsv", "basic": "basic.tsv", "thorough": "triples.tsv"}
train, dev, test = map(split, ("train", "dev", "test"))
public = {
    "atlas-facts": lambda _: (train,),
    "graph-claims": lambda _: (table("graph/triples.tsv"), train),
    "life-facts": lambda _: (train,),
    "mirror-claims": lambda _: ({"train": train, "dev": dev},),
    "open-facts": lambda system: (table(f"train/{TRAIN[system['track']]}"), table("train/mentions.tsv")),
    "rated-summaries": lambda _: (dev,),
    "sourced-claims": lambda _: (read("pages/pages.jsonl"), train),
}[Path.cwd().name]
gold = [blank(line) for line in test]
for system in json.loads(Path("benchmark.json").read_text(encoding="utf-8"))["systems"]:
    if system["phase"] == "test" and system.get("kind") != "organiser" and "predictions" in system:
        again = baselines.run(Path(system["predictions"]).stem, *public(system), gold)
        assert again == read(system["predictions"]), system["name"]
        print(system["name"])
"""


def systems() -> list[Any]:
    found = []
    for benchmark in BENCHMARKS:
        for system in in_files(manifest.read(FIXTURES / benchmark / "benchmark.json")):
            found.append(pytest.param(benchmark, system, id=f"{benchmark}/{system.predictions}"))
    return found


def in_files(plan: manifest.Manifest) -> list[manifest.SystemPart]:
    """The systems whose predictions lie here; the others are images to be built."""
    return [system for system in plan.systems if system.predictions]


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], check=False, cwd=cwd, env=environment, capture_output=True, text=True
    )


def data_of(folder: Path) -> list[Path]:
    """What make.py writes: all that lies in folders of their own."""
    return [path for path in folder.glob("*/**/*") if path.is_file() and path.parent.name != "__pycache__"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_generator_writes_the_same_bytes_again(benchmark: str, tmp_path: Path) -> None:
    made = run(str(FIXTURES / benchmark / "make.py"), "--out", str(tmp_path), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    kept = {p.relative_to(FIXTURES / benchmark): p.read_bytes() for p in data_of(FIXTURES / benchmark)}
    again = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert sorted(again) == sorted(kept)
    assert [name for name in kept if kept[name] != again[name]] == []


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_baselines_do_not_need_the_answers(benchmark: str) -> None:
    blind = run("-c", BLIND, cwd=FIXTURES / benchmark)
    assert blind.returncode == 0, blind.stderr
    assert len(blind.stdout.splitlines()) >= 4


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_manifest_names_every_file(benchmark: str) -> None:
    folder = FIXTURES / benchmark
    plan = manifest.read(folder / "benchmark.json")
    assert plan.slug == benchmark
    assert plan.licence == "CC0-1.0"
    assert "CC0-1.0" in (folder / "README.md").read_text(encoding="utf-8")
    assert {s.gold for s in plan.splits} == {str(p.relative_to(folder)) for p in folder.glob("splits/*")}
    kept = {system.predictions: system.phase for system in in_files(plan)}
    assert kept.keys() == {str(p.relative_to(folder)) for p in folder.glob("predictions/*/*")}
    assert [s.name for s in plan.splits if not s.gold_public] == ["test"]
    assert not re.search(r"[*_`#\[\]<>]", manifest.text(plan.description))
    others = {str(path.relative_to(folder)) for path in data_of(folder)} - kept.keys()
    assert {s.gold for s in plan.splits} | {download.file for download in plan.downloads} == others
    assert all(name.startswith(f"predictions/{phase}/") for name, phase in kept.items())


def test_the_fixtures_stay_small() -> None:
    assert sum(path.stat().st_size for path in FIXTURES.rglob("*") if path.is_file()) < LIMIT


@pytest.mark.parametrize(("benchmark", "system"), systems())
def test_every_predictions_file_is_accepted_and_scored(benchmark: str, system: manifest.SystemPart) -> None:
    plan = manifest.read(FIXTURES / benchmark / "benchmark.json")
    phase = next(phase for phase in plan.phases if phase.slug == system.phase)
    gold = (FIXTURES / benchmark / "splits" / f"{phase.split}.jsonl").read_bytes()
    predictions = (FIXTURES / benchmark / system.predictions).read_bytes()
    named = {f"{kind}_name": f"{kind}.jsonl" for kind in ("gold", "inputs", "predictions")}
    arguments = {"task": plan.task, "options": phase.options, "resamples": 0, "seed": 0, **named}
    prepared, inputs = JOBS["prepare_gold"]({"gold": io.BytesIO(gold)}, arguments)
    assert prepared["ok"], prepared
    assert prepared["warnings"] == []
    arguments["expects"] = prepared["expects"]
    files = {"inputs": io.BytesIO(inputs), "predictions": io.BytesIO(predictions)}
    valid, _ = JOBS["validate"](files, arguments)
    assert (valid["ok"], valid.get("warnings")) == (True, []), valid
    files = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)}
    report, _ = JOBS["score"](files, arguments)
    assert report["ok"], report
    assert all(score["value"] is None or score["n"] > 0 for score in report["result"]["scores"])
