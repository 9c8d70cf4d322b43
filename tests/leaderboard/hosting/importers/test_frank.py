"""FRANK's ratings become one hidden split; texts join by article and model; published outputs become predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare, Write, lines_of

RATINGS, TEXTS = "human_annotations.json", "benchmark_data.json"
OUTPUTS = "baseline_factuality_metrics_outputs.json"


def rating(article: str | int, model: str, factuality: float, **more: Any) -> dict[str, Any]:
    told = {"hash": article, "model_name": model, "dataset": "bbc", "Factuality": factuality, "RelE": 1.0}
    return {**told, "split": "valid", **more}


RATED = [rating("a1", "bart", 1.0), rating("a1", "s2s", 0.25), rating(77, "bart", 0.5, split="test", dataset="cnndm")]


@pytest.fixture
def put(published: Path) -> Any:
    def written(name: str, records: list[dict[str, Any]]) -> Path:
        path = published / name
        path.write_text(json.dumps(records, indent=1))
        return path

    return written


def text(article: str | int, model: str) -> dict[str, Any]:
    return {"hash": article, "model_name": model, "article": "long", "summary": f"{model} says", "reference": "right"}


def test_ratings_are_gold(put: Any, prepare: Prepare, work: Path) -> None:
    put(RATINGS, RATED)
    put(TEXTS, [text(r["hash"], r["model_name"]) for r in reversed(RATED)])
    imported = prepare("frank")
    assert lines_of(work / "rated.jsonl") == [
        {
            "id": f"{article}:{model}",
            "human": human,
            "system": model,
            "generated": f"{model} says",
            "reference": "right",
            "group": article,
            "slices": {"split": split, "dataset": dataset},
        }
        for article, model, human, split, dataset in (
            ("a1", "bart", 1.0, "valid", "bbc"),
            ("a1", "s2s", 0.25, "valid", "bbc"),
            ("77", "bart", 0.5, "test", "cnndm"),
        )
    ]
    (phase,) = imported.manifest.phases
    assert (phase.split, phase.options) == ("rated", {"cross": "split,dataset"})
    assert [(split.name, split.gold_public) for split in imported.manifest.splits] == [("rated", False)]
    assert imported.origins.of("rated.jsonl", 2) == f"{RATINGS}:10"


def test_without_texts_ids_alone_are_public(put: Any, prepare: Prepare, work: Path) -> None:
    put(RATINGS, RATED)
    said: list[str] = []
    prepare("frank", say=said.append)
    assert set(lines_of(work / "rated.jsonl")[0]) == {"id", "human", "system", "group", "slices"}
    assert any("the inputs will have only ids" in line for line in said)


def test_gold_that_was_made_before_is_kept(write: Write, prepare: Prepare, work: Path) -> None:
    line = '{"id":  "a1:bart", "human": 1.0, "slices": {"split": "test", "dataset": "bbc"}}'
    write("gold.jsonl", [line])
    manifest = prepare("frank").manifest
    assert (work / "rated.jsonl").read_text() == f"{line}\n"
    assert manifest.phases[0].options == {"cross": "split,dataset"}
    write("gold.jsonl", ['{"id": "a1:bart", "human": 1.0}'])
    (work / "rated.jsonl").unlink()
    assert prepare("frank").manifest.phases[0].options == {}


def test_salted_ids_hide_article_and_model(put: Any, prepare: Prepare, work: Path) -> None:
    put(RATINGS, RATED)
    imported = prepare("frank", salt_ids=True, salt="pepper")
    golds = {gold["id"]: gold for gold in lines_of(work / "rated.jsonl")}
    assert set(imported.id_map) == {"a1:bart", "a1:s2s", "77:bart"}
    assert golds[imported.id_map["a1:s2s"]]["human"] == 0.25
    assert not any("a1" in (gold["id"], gold["group"]) for gold in golds.values())
    assert list(golds) == sorted(golds)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rated: rated.append(RATED[0]), f"{RATINGS}:26: a1:bart is already rated on line 2"),
        (lambda rated: rated[1].pop("Factuality"), f"{RATINGS}:10: Object missing required field `Factuality`"),
        (lambda rated: rated[1].update(Factuality="1"), f"{RATINGS}:10: Expected `float`, got `str`"),
        (lambda rated: rated.clear(), f"{RATINGS}: found no rating"),
        (lambda rated: rated[1].update(hash="a2"), f"{RATINGS}:10: found no summary of a2:s2s in {TEXTS}"),
    ],
)
def test_a_fault_has_its_line(change: Any, told: str, put: Any, prepare: Prepare) -> None:
    put(TEXTS, [text(r["hash"], r["model_name"]) for r in RATED])
    rated = [dict(r) for r in RATED]
    change(rated)
    put(RATINGS, rated)
    with pytest.raises(PublishedFileError) as fault:
        prepare("frank")
    assert str(fault.value).startswith(told)


def test_a_file_that_is_no_list(published: Path, put: Any, prepare: Prepare) -> None:
    (published / RATINGS).write_text('{"hash": 1}')
    with pytest.raises(PublishedFileError, match=rf"{RATINGS}: .*expected a JSON list of objects"):
        prepare("frank")
    (published / RATINGS).unlink()
    with pytest.raises(PublishedFileError, match=rf"found no {RATINGS}"):
        prepare("frank")


def test_a_text_that_stands_twice(put: Any, prepare: Prepare) -> None:
    put(RATINGS, RATED)
    put(TEXTS, [text("a1", "bart"), text("a1", "bart")])
    with pytest.raises(PublishedFileError, match=rf"{TEXTS}:9: a1:bart is listed already"):
        prepare("frank")


def test_published_outputs_become_predictions(put: Any, prepare: Prepare, tmp_path: Path) -> None:
    put(RATINGS, RATED)
    scores = [{"Rouge L": 0.5, "QAGS": 0.9}, {"Rouge L": -1, "QAGS": None}, {"Rouge L": 0.25, "QAGS": 1.0}]
    about = [{key: r[key] for key in ("hash", "model_name", "dataset", "split")} for r in RATED]
    put(OUTPUTS, [told | given for told, given in zip(about, scores, strict=True)])
    said: list[str] = []
    target = tmp_path / "outputs"
    imported = prepare("frank", predictions=target, salt_ids=True, say=said.append)
    assert [path.name for path in target.iterdir()] == ["rouge_l.jsonl"]
    found = {line["id"]: line["score"] for line in lines_of(target / "rouge_l.jsonl")}
    assert found == {
        imported.id_map[name]: score for name, score in (("a1:bart", 0.5), ("a1:s2s", -1), ("77:bart", 0.25))
    }
    assert "QAGS: 1 of 3 summaries have no score; the metric is left out" in said


def test_outputs_are_not_written_over_others(put: Any, prepare: Prepare, work: Path, tmp_path: Path) -> None:
    put(RATINGS, RATED)
    put(OUTPUTS, [{"hash": r["hash"], "model_name": r["model_name"], "Bleu": 1.0} for r in RATED])
    (tmp_path / "bleu.jsonl").write_text("mine")
    with pytest.raises(PublishedFileError, match="cannot be written: File exists"):
        prepare("frank", predictions=tmp_path)
    assert (tmp_path / "bleu.jsonl").read_text() == "mine"
    put(OUTPUTS, [{"model": "bart", "Bleu": 1.0}])
    (work / "rated.jsonl").unlink()
    with pytest.raises(PublishedFileError, match=rf"{OUTPUTS}:2: found the keys model, Bleu, expected hash"):
        prepare("frank", predictions=tmp_path / "other")


def test_summaries_of_one_article_are_one_group(write: Write, prepare: Prepare, work: Path) -> None:
    """Gold that was made before says it in its ids; what says it itself, or whose ids say nothing, is left alone."""
    told = [
        {"id": "a1:bart", "human": 1.0, "system": "bart"},
        {"id": "a1:s2s", "human": 0.5, "system": "s2s"},
        {"id": "a2:bart", "human": 0.5, "system": "bart", "group": "own"},
        {"id": "a2:other", "human": 0.5, "system": "s2s"},
    ]
    write("gold.jsonl", told)
    prepare("frank")
    assert [line.get("group") for line in lines_of(work / "rated.jsonl")] == ["a1", "a1", "own", None]
