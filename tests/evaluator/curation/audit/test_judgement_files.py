"""Judgements in our layout, as lists of ratings, as SNLI's labels and as FRANK's annotated sentences."""

import gzip
import io
import json

import pytest

from evaluator.curation.audit.annotators.agreement import statistics
from evaluator.curation.audit.annotators.judgement_files import Judgements, read_judgements
from evaluator.errors import GoldError
from tests.conftest import ROOT
from tests.evaluator.curation.audit.splits import audited, split


def read(*lines: object, file: str = "judged.jsonl") -> Judgements:
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return read_judgements(io.BytesIO(gzip.compress(body) if file.endswith(".gz") else body), file)


def frank(model: str, *sentences: list[list[str]]) -> dict[str, object]:
    annotated = [{f"annotator_{n}": errors for n, errors in enumerate(sentence)} for sentence in sentences]
    return {"hash": "ab", "model_name": model, "summary": "...", "summary_sentences_annotations": annotated}


@pytest.mark.parametrize("file", ["judged.jsonl", "judged.jsonl.gz"])
def test_each_layout_gives_judgements_of_items(file) -> None:
    named = read({"id": 1, "annotator": "ann", "label": "a"}, {"id": 1, "annotator": "bob", "label": "b"}, file=file)
    assert named == Judgements([(1, "ann", "a"), (1, "bob", "b")], scores=False)
    ratings = read({"id": "x", "ratings": [4, 2.5]}, {"id": "y", "ratings": []}, file=file)
    assert ratings == Judgements([("x", None, 4), ("x", None, 2.5)], scores=True)
    snli = read({"pairID": "p", "gold_label": "-", "annotator_labels": ["neutral", "", "neutral"]}, file=file)
    assert snli == Judgements([("p", None, "neutral"), ("p", None, "neutral")], scores=False)
    summary = frank("bart", [["NoE"], ["RelE", "EntE"], ["NoE"]], [["NoE"], ["NoE"], ["OutE"]])
    assert read([summary], file=file) == Judgements(
        [("ab:bart", None, 1.0), ("ab:bart", None, 0.5), ("ab:bart", None, 0.5)], scores=True
    )


def test_unnamed_annotators_are_not_compared_in_pairs() -> None:
    stats = statistics(read({"id": 1, "ratings": [1, 1, 2]}, {"id": 2, "ratings": [3, 3]}))
    assert (stats["annotators"], stats["items"], stats["judged_twice"], stats["pairs"]) == (3, 2, 2, [])
    assert stats["percent"] == (1 + 1) / (3 + 1)


def test_the_public_ratings_of_the_demonstration_are_audited() -> None:
    folder = ROOT / "fixtures" / "rated-summaries"
    with (folder / "ratings" / "dev.jsonl").open("rb") as file:
        judgements = read_judgements(file, "dev.jsonl")
    gold = [json.loads(line) for line in (folder / "splits" / "dev.jsonl").open()]
    report = audited(split("metric-correlation", gold), judgements=judgements, judgements_file="dev.jsonl")
    assert round(report["agreement"]["alpha"]["ordinal"], 3) == 0.720  # as the benchmark's description states
    assert report["agreement"]["annotators"] == 5
    assert not {f["code"] for f in report["findings"]} & {"judgements-without-gold", "annotator-against-gold"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"id": 1, "ratings": [1]}, {"id": 2, "ratings": ["1"]}], "judged.jsonl:2: ratings is not valid"),
        (
            [{"id": 1, "ratings": [1]}, {"id": 2, "label": "a"}],
            "judged.jsonl:2: ratings is not valid, found no",
        ),
        ([{"id": 1, "ratings": [1]}, {"id": 1, "ratings": [1]}], "judged.jsonl:2: duplicate id"),
        ([{"pairID": 1, "annotator_labels": [1]}], "judged.jsonl:1: annotator_labels is not valid"),
        ([[{"hash": "ab"}]], "judged.jsonl: not the file of FRANK's annotated sentences"),
        ([[frank("a")], [frank("b")]], "judged.jsonl: not the file of FRANK's annotated sentences"),
        ([{"id": 1, "annotator": 1, "label": "a"}] * 2, "judged.jsonl:2: an annotator judges an item twice"),
    ],
)
def test_invalid_files_are_refused(lines, message) -> None:
    with pytest.raises(GoldError) as caught:
        read(*lines)
    assert message in str(caught.value)
