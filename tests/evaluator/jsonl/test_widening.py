"""Lines with unknown keys are read by the fast path, with the same result as line by line."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import PredictionError
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.tasks.items.scores import ScoreLine
from tests.support.full_run import examples

LAYOUT = Format(ScoreLine, Schema(frozenset({"id", "score"})), lambda _: 2)


def read(data, *, wide=True):
    """Records, problems and warnings."""
    reader = Reader("p", LAYOUT, PredictionError)
    if not wide:
        reader._decode_wide = lambda *_: None
    records = [(number, line.id, line.score) for number, line in reader.records(io.BytesIO(data))]
    return records, [str(problem) for problem in reader.problems.problems], reader.warnings


def lines(*texts):
    return "".join(f'{{"id": {i}, {text} "score": {i}.5}}\n' for i, text in enumerate(texts)).encode()


CASES = {
    "one key on every line": lines(*['"label": true,'] * 5),
    "not on every line": lines('"a": 1,', "", '"a": "x",'),
    "not on the first line": lines("", '"a": 1,'),
    "several": lines('"a": 1, "b": null,', '"b": -0.0,', '"a": "\\u00e9", "b": "",'),
    "others later": lines('"a": 1,', '"b": 1,'),
    "twice": lines('"a": 1,', '"a": 1, "a": 2,', '"a": 3,'),
    "an object": lines('"a": 1,', '"a": {"b": 1},', '"a": {"b": 1, "b": 1},'),
    "a list": lines('"a": [1],', '"a": [{"id": 1}],'),
    "NaN": lines('"a": 1,', '"a": NaN,'),
    "beyond float64": lines('"a": 1,', '"a": 1e999,', '"a": -1e999,'),
    "a large integer": lines('"a": 1,', f'"a": {10**30},', f'"a": {10**300},', f'"a": {10**400},'),
    "NUL": lines('"a": 1,', '"a": "\\u0000",'),
    "lone surrogate": lines('"a": 1,', '"a": "\\ud800",'),
    "colons in strings": lines('"a": "\\": \\":",', '"a": ": :",'),
    "a quote in a key": lines(*['"a\\"b": 1,'] * 3),
    "an escaped key": lines(*['"\\u0061": 1,'] * 3),
    "an empty key": lines(*['"": 1,'] * 3),
    "the name of a field": lines(*['"ignored_0": 1, "ignored_1": 2, "b": 3,'] * 3),
    "the score twice": lines('"a": 1,', '"a": 1, "score": 2,'),
    "a wrong type": lines('"a": 1,', '"a": 1, "id": true,'),
    "64 keys": lines(*[", ".join(f'"k{i}": 1' for i in range(64)) + ","] * 2),
    "65 keys": lines(*[", ".join(f'"k{i}": 1' for i in range(65)) + ","] * 2),
}


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
def test_the_fast_path_equals_reading_line_by_line(data):
    assert read(data) == read(data, wide=False)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4))
KEYS = st.dictionaries(st.sampled_from(["a", "b", "label", 'c": ', "é"]), PLAIN | st.lists(PLAIN, max_size=1))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=5))
def test_the_fast_path_equals_reading_line_by_line_on_generated_keys(extras):
    data = b"".join(json.dumps({"id": i, "score": 1, **extra}).encode() + b"\n" for i, extra in enumerate(extras))
    assert read(data) == read(data, wide=False)


def test_unknown_keys_are_counted_across_blocks():
    data = lines(*['"label": "' + "x" * 100 + '",'] * 60_000)
    reader = Reader("p", LAYOUT, PredictionError)
    assert len(list(reader.records(io.BytesIO(data)))) == 60_000
    assert reader._wide is not None and not reader.problems
    assert reader.warnings == ['p: key "label" is not part of the format, ignored on 60000 lines, first on line 1']
