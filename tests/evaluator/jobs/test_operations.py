"""The jobs: the contents of their reports, which never quote gold."""

import gzip
import io
import json

import pytest

from evaluator.jobs import JOBS, warm_up
from evaluator.outcomes.serialization import from_bytes
from evaluator.tasks.registry import TASKS
from tests.evaluator.tasks.fact_verification.test_fv_rules import answers, claim, symmetric
from tests.evaluator.tasks.knowledge_base_population.test_kbp_rules import answer, document, fact, passage
from tests.support.scoring_runs import jsonl, run_prepare, run_score

SECRET = "canary-7f3a"
CLAIM = {
    "id": "public",
    "claim": SECRET,
    "label": "SUPPORTS",
    "evidence": [[[1, 2, SECRET, 3]]],
    "evidence_text": SECRET,
    "group": SECRET,
    "slices": {"origin": SECRET},
}
DOCUMENT = document(
    "public",
    passage("p", [fact(uris=(SECRET, SECRET))]),
    group=SECRET,
    slices={"kind": SECRET},
)
DOCUMENT = {"documentId": DOCUMENT.pop("documentId"), **DOCUMENT}  # the id first, as in CLAIM


def invalid_variants(line):
    """Variants of the line: each value, at any depth, replaced by values of wrong types; and lines of invalid JSON."""

    def paths(value, path=()):
        yield path
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            yield from paths(item, (*path, key))

    for path in list(paths(line))[2:]:  # all but the whole line and the id, which is public
        for wrong in ([SECRET], {SECRET: SECRET}, None, True, 0.5, SECRET, -1):
            changed = json.loads(json.dumps(line))
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = wrong
            yield json.dumps(changed).encode()
    text = json.dumps(line).encode()
    yield text[:-1]
    yield text + b"\n" + text
    yield text.replace(SECRET.encode(), SECRET.encode() + b"\\ud800")
    yield text.replace(SECRET.encode(), SECRET.encode() + b"\xff")
    yield text.replace(SECRET.encode(), SECRET.encode() + b"\\u0000")
    yield text.replace(SECRET.encode(), SECRET.encode() + b'": NaN, "')
    yield text.replace(b"{", b'{"n": 1' + b"7" * 400 + b", ", 1)
    yield text.replace(b'"claim"', b'"claim": "' + SECRET.encode() + b'", "claim"')


@pytest.mark.parametrize(
    ("task", "line"), [("fact-verification", CLAIM), ("knowledge-base-population", DOCUMENT)], ids=lambda x: str(x)[:9]
)
def test_invalid_gold_is_never_quoted(task, line):
    refused = 0
    predictions = [{"id": "nobody", "predicted_label": "SUPPORTS"}]
    for gold in invalid_variants(line):
        report, _ = run_prepare(task, gold)
        scored = run_score(task, gold, predictions)
        assert not scored["ok"]
        assert SECRET not in json.dumps(scored["problems"])
        if not report["ok"]:
            refused += 1
            assert report["fault"] == scored["fault"] == "gold"
            assert SECRET not in json.dumps(report)
            assert all(problem["expected"] or problem["found"] for problem in report["problems"])
    assert refused > 50


def test_prepare_describes_the_gold():
    gold = symmetric(3)
    report, inputs = run_prepare("fact-verification", gold)
    assert report == {
        "ok": True,
        "n_lines": 12,
        "n_units": 12,
        "n_groups": 3,
        "dimensions": {
            "label": ["REFUTES", "SUPPORTS"],
            "origin": ["generated", "original"],
            "half": ["left", "right"],
        },
        "measures": ["accuracy", "group_accuracy", "symmetric_gap", "claim_consistency"],
        "primary": "accuracy",
        "expects": {"evidence": "none", "origin": True},
        "warnings": [],
    }
    assert len(inputs.splitlines()) == 12
    packed, _ = JOBS["prepare_gold"](
        {"gold": io.BytesIO(gzip.compress(jsonl(gold)))}, {"task": "fact-verification", "gold_name": "gold.jsonl.gz"}
    )
    assert packed == report


def test_scoring_attaches_the_outcomes():
    gold = symmetric(3)
    report, attachment = JOBS["score"](
        {"gold": io.BytesIO(jsonl(gold)), "predictions": io.BytesIO(jsonl(answers(gold)))},
        {"task": "fact-verification", "gold_name": "g", "predictions_name": "p", "resamples": 10},
    )
    table = from_bytes(attachment)
    assert (table.task, table.n_units, table.n_groups) == ("fact-verification", 12, 3)
    assert report["primary"] == "accuracy"
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize(("limit", "value"), [("file_bytes", 10), ("lines", 1), ("line_bytes", 10)])
def test_a_phase_may_set_its_own_limits(limit, value):
    arguments = {"task": "fact-verification", "gold_name": "g", "predictions_name": "p", "limits": {limit: value}}
    gold = [claim(1), claim(2)]
    predictions = [{"id": i, "predicted_label": "SUPPORTS"} for i in (1, 2)]
    report, _ = JOBS["score"](
        {"gold": io.BytesIO(jsonl(gold)), "predictions": io.BytesIO(jsonl(predictions))}, arguments
    )
    assert report["fault"] == "predictions"


def test_wrong_usage_gives_a_report():
    report = run_score("no-such-task", b"", b"")
    assert report["fault"] == "usage"
    assert "expected one of" in report["problems"][0]["text"]
    fold = run_score("knowledge-base-population", [document("d")], [answer("d", "p")], fold="six")
    assert fold["problems"][0]["text"] == 'option fold is "six", expected 1 to 5, or all'


def test_warming_up_imports_every_module():
    import sys

    warm_up()
    before = set(sys.modules)
    warm_up()
    assert set(sys.modules) == before


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_examples_on_pages_parse(task):
    for line in task.prediction_example.splitlines():
        assert isinstance(json.loads(line), dict)
