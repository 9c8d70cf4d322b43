"""Runs the evaluator's jobs on Python objects."""

import io
import json

from evaluator.jobs import JOBS


def cut(value):
    """Round a value to 12 digits, as reports do."""
    return float(f"{value:.12g}")


def jsonl(lines):
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def as_bytes(content):
    return content if isinstance(content, bytes) else jsonl(content)


def taken_by(job, arguments):
    """Return only the arguments that the job accepts, so that one dict serves several jobs."""
    return {name: arguments[name] for name in JOBS[job].request.__struct_fields__ if name in arguments}


def run_score(task, gold, predictions, *, resamples=0, seed=0, name="predictions.jsonl", **options):
    """Return the report of one scoring. gold, predictions: bytes or lists of lines."""
    report, _ = JOBS["score"](
        {"gold": io.BytesIO(as_bytes(gold)), "predictions": io.BytesIO(as_bytes(predictions))},
        {
            "task": task,
            "options": {key: str(value) for key, value in options.items()},
            "resamples": resamples,
            "seed": seed,
            "gold_name": "gold.jsonl",
            "predictions_name": name,
        },
    )
    return report


def run_validate(task, inputs, predictions, *, name="predictions.jsonl", expects=None, **options):
    report, _ = JOBS["validate"](
        {"inputs": io.BytesIO(as_bytes(inputs)), "predictions": io.BytesIO(as_bytes(predictions))},
        {
            "task": task,
            "options": {key: str(value) for key, value in options.items()},
            "expects": expects or {},
            "inputs_name": "inputs.jsonl",
            "predictions_name": name,
        },
    )
    return report


def run_prepare(task, gold, **options):
    return JOBS["prepare_gold"](
        {"gold": io.BytesIO(as_bytes(gold))},
        {"task": task, "options": {key: str(value) for key, value in options.items()}, "gold_name": "gold.jsonl"},
    )


def table(report):
    """Return {(measure, slice as JSON): (value, n)}."""
    assert report["ok"], report
    return {
        (score["measure"], json.dumps(score["slice"])): (score["value"], score["n"])
        for score in report["result"]["scores"]
    }


def texts(report):
    assert not report["ok"]
    return [problem["text"] for problem in report["problems"]]


def assert_same(ours, oracle):
    """Check for equal keys, equal n, and values equal to 1e-9."""
    assert ours.keys() == oracle.keys()
    for key, (value, n) in oracle.items():
        our_value, our_n = ours[key]
        assert our_n == n, (key, ours[key], oracle[key])
        assert (our_value is None) == (value is None), (key, ours[key], oracle[key])
        # Reports have 12 digits; very large values can only be compared after this rounding.
        same = value is None or abs(our_value - value) < 1e-9 or our_value == float(f"{value:.12g}")
        assert same, (key, ours[key], oracle[key])
