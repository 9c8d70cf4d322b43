"""Published files of scored claims, ranked mentions, facts and metrics, hosted: they get their published numbers."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core.management import CommandError

from leaderboard.core.storage import opened
from leaderboard.models import Benchmark, Dataset, ReportedResult, Split, User
from tests.support.hosted_imports import WAYS, Score, agree, host, inputs_of, phase_of

pytest_plugins = ["tests.support.hosted_imports"]
pytestmark = [pytest.mark.realdata, pytest.mark.django_db]


def key(**slice_: Any) -> str:
    return msgspec.json.encode(slice_, order="deterministic").decode() if slice_ else ""


def jsonl(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_order_of_buckles_inputs_does_not_reveal_labels(realdata: Path, curator: User, sandbox: str) -> None:
    """True claims come first in the published files."""
    host("buckle", realdata / "buckle", salt="pepper")
    for split in Split.objects.filter(kind="test"):
        assert split.current_gold is not None
        with opened(split.current_gold.file) as file:
            holds = {line["id"]: line["label"] for line in map(json.loads, file)}
        order = [holds[line["id"]] for line in inputs_of(split)]
        true_indexes = [index for index, label in enumerate(order) if label]
        assert sum(true_indexes) / len(true_indexes) / len(order) == pytest.approx(0.5, abs=0.05)


NAMES = {
    "spearman": "spearman",
    "pearson": "pearson",
    "kendall_tau_b": "kendall",
    "partial_spearman_by_system": "partial_spearman",
    "partial_pearson_by_system": "partial_pearson",
}


@pytest.mark.parametrize("send", WAYS, indirect=True)
def test_frank(realdata: Path, curator: User, score: Score, sandbox: str, subtests: pytest.Subtests) -> None:
    folder = realdata / "metric-correlation"
    host("frank", folder)
    phase = phase_of("frank", "rated")
    assert phase.split.current_gold is not None
    assert (phase.split.current_gold.n_lines, phase.split.gold_public) == (2246, False)
    assert {name for line in inputs_of(phase.split) for name in line} == {"id"}
    expected = json.loads((folder / "expected.json").read_text())
    for path in sorted((folder / "predictions").glob("*.jsonl.gz")):
        values = {}
        for subset, metrics in expected.items():
            split, dataset = subset.split("/")
            slice_ = {name: value for name, value in (("dataset", dataset), ("split", split)) if value != "all"}
            for published, name in NAMES.items():
                values[name, key(**slice_)] = metrics[path.name.partition(".")[0]][published]
        with subtests.test(path.name):
            agree(score(phase, path), values)


@pytest.fixture
def triples(realdata: Path, tmp_path: Path) -> Path:
    """KnowledgeNet's mentions in the layout of OLPBENCH: fold 4 is evaluated, the others are known."""
    published = read(realdata / "link-prediction" / "mention_triples.jsonl")
    mentions: dict[str, dict[str, None]] = defaultdict(dict)
    for triple in published:
        mentions[triple["subject_entity"]][triple["subject"]] = None
        mentions[triple["object_entity"]][triple["object"]] = None
    folder = tmp_path / "olpbench"
    folder.mkdir()
    for name, folds in (("train_data_simple.txt", {1, 2, 3}), ("test_data.txt", {4})):
        lines = [
            "\t".join(
                [
                    *(triple[part] for part in ("subject", "relation", "object")),
                    *("|||".join(mentions[triple[end]]) for end in ("subject_entity", "object_entity")),
                ]
            )
            for triple in published
            if triple["fold"] in folds
        ]
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_olpbench(realdata: Path, triples: Path, curator: User, score: Score, sandbox: str, tmp_path: Path) -> None:
    """The questions equal those of an independent conversion, and a ranking gets the score computed there."""
    folder = realdata / "link-prediction"
    host("olpbench", triples)
    host("olpbench", triples, slug="raw", option=["setting=raw"])
    gold = {asked(line): line["id"] for line in read(folder / "gold.jsonl")}
    rankings = {line["id"]: line["ranking"] for line in read(folder / "predictions.jsonl")}
    expected = json.loads((folder / "expected_mention_ranking.json").read_text())["metrics"]
    for slug, setting in (("olpbench", "filtered"), ("raw", "raw")):
        phase = phase_of(slug, "test")
        assert phase.split.current_gold is not None
        with opened(phase.split.current_gold.file) as file:
            questions = [json.loads(line) for line in file]
        assert len(questions) == len(gold) == 1027
        assert set(map(asked, questions)) == gold.keys()
        answers = [{"id": line["id"], "ranking": rankings[gold[asked(line)]]} for line in questions]
        scores = score(phase, jsonl(tmp_path / "predictions.jsonl", answers))
        expected_values = {name: expected[setting][name] for name in ("mrr", "hits@1", "hits@3", "hits@10", "hits@50")}
        agree(scores, {(name, ""): value for name, value in expected_values.items()})


def asked(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line["question"]), frozenset(line["answers"]), frozenset(line["filtered"])


def test_any_gold_file_is_hosted(realdata: Path, curator: User, score: Score, sandbox: str) -> None:
    facts, links = realdata / "fact-extraction", realdata / "link-prediction"
    host("fact-extraction", facts)
    host("link-prediction", links / "gold.jsonl", slug="mentions", title="Mentions", reported=False)
    total = json.loads((facts / "expected_fact_acc.json").read_text())["total"]
    names = {
        "fact_acc": "micro",
        "fact_acc_macro": "macro_mean_over_defined",
        "fact_acc_macro_zero": "macro_mean_undefined_as_0",
    }
    scores = score(phase_of("fact-extraction", "test"), facts / "predictions.jsonl")
    agree(scores, {(name, ""): total[published] for name, published in names.items()})
    filtered = json.loads((links / "expected_mention_ranking.json").read_text())["metrics"]["filtered"]
    scores = score(phase_of("mentions", "test"), links / "predictions.jsonl")
    agree(scores, {("mrr", ""): filtered["mrr"], ("hits@10", ""): filtered["hits@10"]})
    assert Benchmark.objects.get(slug="mentions").title == "Mentions"
    assert ReportedResult.objects.filter(benchmark__slug="fact-extraction").count() == 4


def test_gzipped_gold_is_hosted_unchanged(realdata: Path, curator: User, sandbox: str, tmp_path: Path) -> None:
    content = gzip.compress((realdata / "fact-extraction" / "gold.jsonl").read_bytes())
    (tmp_path / "dev.jsonl.gz").write_bytes(content)
    host("fact-extraction", tmp_path, reported=False)
    split = Split.objects.get()
    assert split.current_gold is not None
    assert (split.name, split.gold_public, split.current_gold.n_lines) == ("dev", False, 508)
    with split.current_gold.file.open("rb") as file:
        assert file.read() == content
    assert not ReportedResult.objects.exists()


def test_a_problem_in_gold_is_reported_with_its_line(
    realdata: Path, curator: User, sandbox: str, tmp_path: Path
) -> None:
    lines = (realdata / "fact-extraction" / "gold.jsonl").read_text().splitlines()
    lines[6] = lines[6].replace('"facts"', '"fact"')
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    with pytest.raises(CommandError, match=r"(?m)^mine\.jsonl:7: facts is missing"):
        host("fact-extraction", tmp_path / "mine.jsonl")
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("fact-extraction", {"option": ["cross"]}, "--option is cross, expected NAME=VALUE"),
        ("fact-extraction", {"option": ["cros=a,b"]}, 'phase test: .*unknown option "cros"'),
        ("fact-extraction", {"option": ["cross=a"]}, "phase test: .*expected two different dimensions"),
        ("fact-extraction", {"salt_ids": True}, "keeps its published ids"),
        ("fact-extraction", {"public_gold": ["dev"]}, "--public-gold is dev, expected one of test"),
        ("fact-extraction", {"predictions": Path("x")}, "--predictions cannot be used"),
        ("own", {"option": ["cross=a,b"]}, "--option cannot be used"),
        ("own", {}, r"benchmark\.json: no such file"),
    ],
)
def test_a_wrong_option_stores_nothing(
    name: str, options: dict[str, Any], message: str, realdata: Path, curator: User
) -> None:
    with pytest.raises(CommandError, match=message):
        host(name, realdata / "fact-extraction", **options)
    assert not Dataset.objects.exists()


def test_the_printed_address_is_the_configured_one(
    realdata: Path, curator: User, sandbox: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = realdata / "fact-extraction"
    monkeypatch.delenv("HOLDOUT_BASE_URL", raising=False)
    (settings.DATA / "address").write_text("http://127.0.0.1:8977/")
    try:
        assert host("fact-extraction", folder).endswith("http://127.0.0.1:8977/benchmarks/fact-extraction/\n")
        monkeypatch.setenv("HOLDOUT_BASE_URL", "https://holdout.example")
        settings.BASE_URL = "https://holdout.example"
        assert host("fact-extraction", folder).endswith("https://holdout.example/benchmarks/fact-extraction/\n")
    finally:
        (settings.DATA / "address").unlink()
