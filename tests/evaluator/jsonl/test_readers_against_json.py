"""On damaged files, the reader accepts exactly the lines that a slow, plain implementation of the rules accepts."""

import io
import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import PredictionError
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_verification.layout import PREDICTIONS
from evaluator.tasks.knowledge_base_population.layout import PREDICTIONS as FACTS
from tests.support.full_run import examples


def strict_object(pairs):
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


def finite(text):
    value = float(text)
    assert math.isfinite(value)
    return value


def refuse(name):
    raise AssertionError(name)


def walk(value, depth=1):
    if isinstance(value, str):
        assert "\0" not in value
        value.encode("utf-8")  # a lone surrogate cannot be encoded
    elif isinstance(value, dict):
        assert depth <= 16
        for key, item in value.items():
            walk(key)
            walk(item, depth + 1)
    elif isinstance(value, list):
        assert depth <= 16
        for item in value:
            walk(item, depth + 1)
    elif isinstance(value, int):
        float(value)


def parse(line):
    value = json.loads(line.decode("utf-8"), object_pairs_hook=strict_object, parse_constant=refuse, parse_float=finite)
    walk(value)
    assert isinstance(value, dict)
    return value


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value):
    return isinstance(value, str) or is_integer(value)


def check_answer(value):
    assert is_id(value["id"])
    assert isinstance(value["predicted_label"], str)
    for sentence in value.get("predicted_evidence", []):
        assert isinstance(sentence, list) and len(sentence) == 2
        assert isinstance(sentence[0], str) and is_integer(sentence[1])
    assert isinstance(value.get("predicted_evidence", []), list)
    assert len(value.keys() - {"id", "predicted_label", "predicted_evidence"}) <= 64


def check_facts(facts):
    assert isinstance(facts, list)
    for fact in facts:
        assert isinstance(fact, dict)
        assert isinstance(fact["propertyId"], str)
        assert isinstance(fact["subjectUri"], str) and isinstance(fact["objectUri"], str)
        for key in ("subjectStart", "subjectEnd", "objectStart", "objectEnd"):
            assert is_integer(fact[key])


def check_passage_line(value):
    assert is_id(value["documentId"])
    assert isinstance(value.get("passageId", ""), str)
    check_facts(value.get("facts", []))
    assert isinstance(value.get("passages", []), list)
    for passage in value.get("passages", []):
        assert isinstance(passage, dict)
        assert isinstance(passage["passageId"], str)
        check_facts(passage["facts"])


def accepted(content, check):
    """Whether each line is accepted."""
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    verdicts = []
    for line in lines:
        try:
            assert b"\r" not in line
            check(parse(line))
        except (AssertionError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            verdicts.append(False)
        else:
            verdicts.append(True)
    return verdicts


def read(content, layout):
    reader = Reader("p", layout, PredictionError)
    good = {number for number, _ in reader.records(io.BytesIO(content))}
    assert {problem.line for problem in reader.problems.problems} == set(range(1, reader.n_lines + 1)) - good
    return [number in good for number in range(1, reader.n_lines + 1)]


ANSWERS = (
    b'{"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["A :", 0], ["B\\u00e9", 12]]}\r\n'
    b'{"id": "x\\"y", "predicted_label": "R", "confidence": {"a": [0.5, -1e3], "b": ": "}}\n'
    b'{"predicted_label": "\\ud83d\\ude00\xc3\xa9", "id" : -7}\n'
)
PASSAGES = (
    b'{"documentId": "d", "passageId": "p", "facts": [{"propertyId": "1", "subjectStart": 0, "subjectEnd": 3, '
    b'"objectStart": -4, "objectEnd": 9, "subjectUri": "", "objectUri": "http://x/Q1"}]}\n'
    b'{"documentId": 4, "source": "s", "passages": [{"passageId": "p", "passageText": ": :", "facts": []}]}\n'
)
fragments = st.one_of(
    st.binary(min_size=1, max_size=3),
    st.sampled_from(
        [
            b'"',
            b"\\",
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"\n",
            b"\r",
            b"\0",
            b" ",
            b"\t",
            b"0",
            b"1",
            b".",
            b"e9",
            b"-",
            b"NaN",
            b"true",
            b"null",
            b"1e999",
            b'"id": 1,',
            b'"x": 1,',
            b"\\u0000",
            b"\\ud800",
            b"\\udc00",
            b"\xed\xa0\x80",
            b"\xef\xbb\xbf",
            b"9" * 400,
            b'"facts": [],',
            b"[" * 20,
            b"\xc3\xa9",
            b"//",
            b"'",
        ]
    ),
)
cuts = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), fragments), min_size=1, max_size=4)


def damage(content, edits):
    for share, length, fragment in edits:
        offset = 1 + int(share * (len(content) - 1))  # keep the first byte: a byte order mark has its own check
        content = content[:offset] + fragment + content[offset + length :]
    return content


@settings(max_examples=examples(600), deadline=None)
@given(cuts)
def test_damaged_answers(edits):
    content = damage(ANSWERS, edits)
    assert read(content, PREDICTIONS) == accepted(content, check_answer), content


@settings(max_examples=examples(600), deadline=None)
@given(cuts)
def test_damaged_passages(edits):
    content = damage(PASSAGES, edits)
    assert read(content, FACTS) == accepted(content, check_passage_line), content


def test_undamaged_files_are_accepted():
    assert read(ANSWERS, PREDICTIONS) == [True] * 3
    assert read(PASSAGES, FACTS) == [True] * 2
