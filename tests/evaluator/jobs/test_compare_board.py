"""The job that compares the systems of a board, from stored outcomes."""

import io
import json

import pytest

from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import from_bytes, to_bytes
from evaluator.outcomes.table import Outcomes
from tests.evaluator.jobs.test_operations import answers, symmetric
from tests.support.scoring_runs import jsonl

ARGUMENTS = {"task": "fact-verification", "gold_name": "g", "predictions_name": "p", "resamples": 20}


def stored(groups=3, wrong=()):
    """Outcomes of answers that are all correct except those at the indices in `wrong`."""
    gold = symmetric(groups)
    predictions = answers(gold)
    opposite = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    for i in wrong:
        predictions[i]["predicted_label"] = opposite[predictions[i]["predicted_label"]]
    files = {"gold": io.BytesIO(jsonl(gold)), "predictions": io.BytesIO(jsonl(predictions))}
    return JOBS["score"](files, ARGUMENTS)[1]


def compare(*tables, pairs, measure="accuracy", **more):
    files = {str(i): io.BytesIO(table) for i, table in enumerate(tables)}
    report, attachment = JOBS["compare_board"](files, {"pairs": pairs, "measure": measure, "resamples": 20, **more})
    assert attachment == b""
    return json.loads(json.dumps(report, allow_nan=False))


def test_pairs_are_reported_in_the_requested_order():
    report = compare(stored(wrong=[0, 1]), stored(wrong=[5]), stored(), pairs=[[2, 0], [1, 2]])
    assert report["ok"] and report["n_groups"] == 3
    first, second = report["comparisons"]
    assert (first["a"], first["b"], first["difference"]) == (2, 0, pytest.approx(2 / 12))
    assert (second["a"], second["b"], second["difference"]) == (1, 2, pytest.approx(-1 / 12))
    # Three groups have eight permutations, and each of these differences is in one group: all are equally large.
    assert first["p"] == second["p"] == 1.0


def test_outcomes_of_another_version_are_refused():
    table = from_bytes(stored())
    older = Outcomes(**{**vars(table), "task_version": 0})
    report = compare(stored(), to_bytes(older), pairs=[[0, 1]])
    assert report["fault"] == "usage" and "version 0, expected" in report["problems"][0]["text"]


SCORER = {
    "number": 2,
    "measures": [{"name": "m", "title": "M", "doc": "d", "lower": 0, "upper": 1, "higher_is_better": True}],
    "primary": "m",
}


@pytest.mark.parametrize(
    ("version", "scorer", "text"),
    [
        (3, None, "outcomes are of a custom scorer, expected the scorer of the task fact-verification"),
        (3, SCORER, "outcomes are of version 3 of a custom scorer, expected version 2 of the custom scorer"),
        (None, SCORER, "outcomes are of the task fact-verification, expected version 2 of the custom scorer"),
    ],
)
def test_outcomes_of_another_scorer_are_refused(version, scorer, text):
    table = from_bytes(stored())
    other = table if version is None else Outcomes(**{**vars(table), "facts": {**table.facts, "scorer": version}})
    report = compare(to_bytes(other), pairs=[[0, 0]], measure="m", **({"scorer": scorer} if scorer else {}))
    assert (report["fault"], report["problems"][0]["text"]) == ("usage", text)


def test_outcomes_of_another_gold_are_refused():
    report = compare(stored(3), stored(4), pairs=[[0, 1]])
    assert report["fault"] == "usage" and "expected outcomes of the same gold" in report["problems"][0]["text"]


def test_a_measure_that_the_gold_does_not_have_is_refused():
    report = compare(stored(), stored(), pairs=[[0, 1]], measure="fever_score")
    assert report["fault"] == "usage" and "fever_score" in report["problems"][0]["text"]
