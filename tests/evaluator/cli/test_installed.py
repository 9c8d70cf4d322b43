"""`pip install .`: the command on a researcher's machine, without the site and its dependencies.

Every output has the same bytes with each supported Python and NumPy. The tests take the interpreters that they find,
and skip the others.
"""

import contextlib
import hashlib
import inspect
import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from evaluator.cli.main import main
from evaluator.reference_systems.registry import systems_of
from evaluator.tasks.registry import TASKS
from tests.conftest import DATA, ROOT

FIXTURES = ROOT / "fixtures"
CLAIMS = FIXTURES / "mirror-claims"
ENVIRONMENTS = [("3.11", "numpy==1.26.*"), *((f"3.{minor}", "numpy") for minor in (11, 12, 13, 14))]
"""Python, and NumPy: the oldest supported one, or the newest for that Python."""
PUBLISHED = [
    ("fact-verification", "fever/gold_paper_dev.jsonl", "fever/predictions/noisy_seed1.jsonl"),
    ("knowledge-base-population", "knowledgenet/gold_folds_1_to_4.jsonl", "knowledgenet/predictions/noisy_seed1.jsonl"),
    ("link-prediction", "link-prediction/gold.jsonl", "link-prediction/predictions.jsonl"),
    ("fact-extraction", "fact-extraction/gold.jsonl", "fact-extraction/predictions.jsonl"),
    ("metric-correlation", "metric-correlation/gold.jsonl", "metric-correlation/predictions/rouge_1.jsonl.gz"),
]
pytestmark = pytest.mark.slow


def find_python(version: str) -> str | None:
    """Return an interpreter of this version that can create environments, from the path or from pyenv."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for path in map(str, filter(None, found)):
        check = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
        if subprocess.run([path, "-c", check], capture_output=True, check=False).returncode == 0:
            return path
    return None


@pytest.fixture(scope="module", params=ENVIRONMENTS, ids=" ".join)
def installed(request, tmp_path_factory):
    """The bin folder of a new environment; built from a copy, so that no build files remain in the source."""
    version, numpy = request.param
    python = find_python(version)
    if python is None:
        pytest.skip(f"needs Python {version} with ensurepip")
    folder = tmp_path_factory.mktemp("laptop")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for package in {"evaluator", "holdout_eval"} & {path.name for path in ROOT.iterdir()}:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", source, numpy], check=True)
    return folder / "venv" / "bin"


def run(installed, *arguments):
    environment = {"PATH": os.defpath, "HOME": str(installed)}
    return subprocess.run(
        [installed / "holdout-eval", *arguments],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def commands() -> Iterator[list[str]]:
    """Yield command lines of all six tasks: validate, score and compare on the fixtures, baselines, published data."""
    for file in sorted(FIXTURES.glob("*/benchmark.json")):
        benchmark = json.loads(file.read_text(encoding="utf-8"))
        name, splits = benchmark["task"], {split["name"]: split["gold"] for split in benchmark["splits"]}
        for phase in benchmark["phases"]:
            gold = str(file.parent / splits[phase["split"]])
            options = [f"--option={key}={value}" for key, value in (phase.get("options") or {}).items()]
            mine = [system for system in benchmark["systems"] if system.get("phase") == phase["slug"]]
            paths = [str(file.parent / system["predictions"]) for system in mine if "predictions" in system]
            for path in paths:
                yield ["score", name, "--gold", gold, *options, "--json", path]
            if len(paths) > 1:
                yield ["compare", name, "--gold", gold, *options, "--json", *paths[:2]]
            yield ["validate", name, "--inputs", gold, *options, "--json", paths[0]]
        train = ["--train", str(file.parent / splits["train"])] if "train" in splits else []
        # Reference systems need the extra [baselines], also those with the name of a baseline.
        for baseline in sorted({one.name for one in TASKS[name].baselines} - systems_of(name).keys()):
            yield ["run-baseline", name, baseline, "--inputs", str(file.parent / splits["dev"]), *train]
    for name, gold, predictions in PUBLISHED if DATA.is_dir() else ():
        yield ["score", name, "--gold", str(DATA / gold), "--json", str(DATA / predictions)]


def digests(commands: list[list[str]]) -> list[str]:
    """Return each command's exit status and the digest of its output."""
    results = []
    for words in commands:
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(output):
            status = main(words)
        output.flush()
        results.append(f"{status} {hashlib.sha256(output.buffer.getvalue()).hexdigest()}")
    return results


@cache
def expected() -> list[str]:
    """Return what the commands print here."""
    return digests(list(commands()))


def test_every_output_has_the_same_bytes(installed):
    ran = list(commands())
    # The functions above, in the environment's interpreter and with its packages.
    code = f"""
import contextlib, hashlib, io, json, sys
from evaluator.cli.main import main
{inspect.getsource(digests)}
json.dump(digests(json.load(sys.stdin)), sys.stdout)
"""
    result = subprocess.run(
        [installed / "python", "-I", "-c", code], input=json.dumps(ran), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    got = json.loads(result.stdout)
    assert {words[1] for words in ran} == set(TASKS)
    differ = [words for words, here, there in zip(ran, expected(), got, strict=True) if here != there]
    assert not differ
    assert sum(line.startswith("0 ") for line in got) > 80


def test_the_command_is_installed(installed):
    gold, predictions = CLAIMS / "splits" / "dev.jsonl", CLAIMS / "predictions" / "dev" / "claim-only.jsonl"
    result = run(installed, "score", "fact-verification", "--gold", gold, predictions, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)
    wrong = run(installed, "score", "fact-verification")
    assert wrong.returncode == 64
    assert "usage: holdout-eval" in wrong.stderr
    bad = run(installed, "score", "fact-verification", "--gold", gold, "holdout-eval")
    assert bad.returncode == 2


def test_no_server_package_is_installed(installed):
    listed = subprocess.run(
        [installed / "python", "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"],
        capture_output=True,
        check=True,
    )
    names = {package["name"].lower() for package in json.loads(listed.stdout)}
    assert names - {"pip", "setuptools", "wheel"} == {"holdout-eval", "numpy", "msgspec"}
    modules = "leaderboard", "django", "celery", "docker", "scipy"
    for module in modules:
        missing = subprocess.run(
            [installed / "python", "-I", "-c", f"import {module}"], capture_output=True, check=False
        )
        assert b"ModuleNotFoundError" in missing.stderr


def test_a_command_with_a_missing_dependency_names_it(installed):
    options = ["--task", "fact-verification", "--inputs", CLAIMS / "splits" / "dev.jsonl"]
    result = run(installed, "run", "image", *options)
    assert (result.returncode, "pip install 'holdout-eval[systems]'" in result.stderr) == (4, True), result.stderr
    target = ["--server", "https://board.example", "--benchmark", "b", "--phase", "p", "--system", "s"]
    result = run(installed, "submit", "predictions.jsonl", *target)
    assert (result.returncode, "set HOLDOUT_TOKEN" in result.stderr) == (64, True), result.stderr


def test_the_metadata(installed):
    """The site is no extra; extras are ranges; types and the licence are installed."""
    packages = next(installed.parent.glob("lib/python*/site-packages"))
    distribution = PathDistribution(next(packages.glob("holdout_eval-*.dist-info")))
    metadata = distribution.metadata
    assert metadata.get_all("Provides-Extra") and "server" not in metadata.get_all("Provides-Extra")
    assert not [text for text in metadata.get_all("Requires-Dist") if "==" in text.partition(";")[0]]
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert (packages / "evaluator" / "py.typed").is_file()
