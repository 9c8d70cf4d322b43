"""Rules for a line of JSON, equal for predictions, gold and inputs."""

import gzip
import io
import json

import pytest

from evaluator.errors import GoldError, PredictionError, ProblemList
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_verification.layout import PREDICTIONS
from tests.support.scoring_runs import run_score, texts

TASK = "fact-verification"
GOLD = [{"id": i, "claim": "c", "label": "SUPPORTS"} for i in range(3)]
LINES = [b'{"id": %d, "predicted_label": "SUPPORTS"}' % i for i in range(3)]
GOOD = b"\n".join(LINES) + b"\n"
UTF_8_BOM = b"\xef\xbb\xbf"


def with_key(text):
    """The valid file with one more key on its second line."""
    return GOOD.replace(b'"id": 1', text + b', "id": 1')


ACCEPTED = {
    "plain": GOOD,
    "no final newline": GOOD[:-1],
    "CRLF": GOOD.replace(b"\n", b"\r\n"),
    "CRLF and no final newline": GOOD.replace(b"\n", b"\r\n")[:-2],
    "mixed newlines": GOOD.replace(b"\n", b"\r\n", 1),
    "white space around": GOOD.replace(b"{", b" \t{ ").replace(b":", b"\t : "),
    "reordered": b"\n".join(reversed(LINES)),
    "labels in lower case": GOOD.replace(b"SUPPORTS", b"supports"),
    "an escaped pair of surrogates": with_key(rb'"x": "\ud83d\ude00"'),
    "an escaped backslash before u": with_key(rb'"x": "\\ud800 \\u0000"'),
    "colons in a string": with_key(rb'"x": "\": : :"'),
    "-0.0": with_key(b'"x": -0.0'),
    "the largest float64": with_key(b'"x": 1.7976931348623157e308'),
    "a tiny number": with_key(b'"x": 1e-999'),
    "309 digits in a string": with_key(b'"x": "' + b"9" * 400 + b'"'),
    "16 levels": with_key(b'"x": ' + b"[" * 15 + b"]" * 15),
    "brackets in a string": with_key(b'"x": "' + b"[" * 99 + b'"'),
    "64 unknown keys": with_key(b", ".join(b'"k%d": 0' % i for i in range(64))),
    "unknown keys called like gold's": with_key(b'"label": "REFUTES", "group": 1, "slices": {"origin": "original"}'),
    "__proto__": with_key(b'"__proto__": {"label": 1}'),
    "a right-to-left override": with_key('"x": "\u202e"'.encode()),
}

REFUSED = {
    "BOM": (UTF_8_BOM + GOOD, 1, "byte order mark"),
    "UTF-16 with BOM": (GOOD.decode().encode("utf-16"), 1, "UTF-16"),
    "UTF-16LE": (GOOD.decode().encode("utf-16-le"), 1, "UTF-16 or UTF-32"),
    "UTF-16BE": (GOOD.decode().encode("utf-16-be"), 1, "UTF-16 or UTF-32"),
    "UTF-32": (GOOD.decode().encode("utf-32"), 1, "UTF-32"),
    "UTF-32BE": (GOOD.decode().encode("utf-32-be"), 1, "UTF-16 or UTF-32"),
    "bad UTF-8 in a value": (with_key(b'"x": "\xff"'), 2, "not UTF-8, found 0xff at byte 8"),
    "bad UTF-8 in a key": (with_key(b'"\xc3": 0'), 2, "not UTF-8"),
    "overlong UTF-8": (with_key(b'"x": "\xc0\xaf"'), 2, "not UTF-8"),
    "raw lone surrogate": (with_key(b'"x": "\xed\xa0\x80"'), 2, "not UTF-8"),
    "escaped high surrogate": (with_key(rb'"x": "\uD800"'), 2, "surrogate"),
    "escaped low surrogate": (with_key(rb'"x": "\udc00"'), 2, "surrogate"),
    "two high surrogates": (with_key(rb'"x": "\ud800\ud800\udc00"'), 2, "surrogate"),
    "surrogates apart": (with_key(rb'"x": "\ud83d \ude00"'), 2, "surrogate"),
    "surrogate in a key": (with_key(rb'"\ud800": 0'), 2, "surrogate"),
    "surrogate in an id": (GOOD.replace(b"1", rb'"\ud800"'), 2, "surrogate"),
    "NUL byte": (with_key(b'"x": "\0"'), 2, "NUL"),
    "NUL between lines": (GOOD.replace(b"\n", b"\n\0", 1), 2, "NUL"),
    "escaped NUL": (with_key(rb'"x": "\u0000"'), 2, "NUL"),
    "escaped NUL in a key": (with_key(rb'"\u0000": 1'), 2, "NUL"),
    "CR only": (GOOD.replace(b"\n", b"\r"), 1, "carriage return"),
    "one lone CR": (GOOD.replace(b"\n", b"\r", 1), 1, "carriage return"),
    "CR at the end": (GOOD[:-1] + b"\r", 3, "carriage return"),
    "CR inside a line": (GOOD.replace(b": 1", b":\r1"), 2, "carriage return"),
    "white space only": (b" \n", 1, "blank line"),
    "a blank line": (GOOD.replace(b"\n", b"\n\n", 1), 2, "blank line"),
    "a blank line at the end": (GOOD + b"\n", 4, "blank line"),
    "a line of spaces, no newline": (GOOD + b"  ", 4, "blank line"),
    "duplicate keys": (with_key(b'"id": 1'), 2, 'duplicate key, found "id"'),
    "duplicate keys, one escaped": (with_key(rb'"\u0069d": 1'), 2, 'duplicate key, found "id"'),
    "duplicate keys below": (with_key(b'"x": [{"a": {"b": 1, "c": 2, "b": 1}}]'), 2, 'duplicate key, found "b"'),
    "duplicate empty keys": (with_key(b'"": 1, "": 1'), 2, "duplicate key"),
    "NaN": (with_key(b'"x": NaN'), 2, "found NaN"),
    "Infinity": (with_key(b'"x": Infinity'), 2, "found Infinity"),
    "-Infinity": (with_key(b'"x": [-Infinity]'), 2, "found -Infinity"),
    "1e999": (with_key(b'"x": 1e999'), 2, "beyond float64"),
    "-1e999": (with_key(b'"x": -1e999'), 2, "beyond float64"),
    "309 digits": (with_key(b'"x": ' + b"9" * 309), 2, "beyond float64"),
    "a 5,000-digit integer": (with_key(b'"x": ' + b"9" * 5000), 2, "beyond float64"),
    "a 5,000-digit id": (GOOD.replace(b"1", b"1" * 5000), 2, "beyond float64"),
    "a 400-digit id": (GOOD.replace(b"1", b"1" * 400), 2, "beyond float64"),
    "17 levels": (with_key(b'"x": ' + b"[" * 16 + b"]" * 16), 2, "nested too deeply"),
    "17 levels of objects": (with_key(b'"x": ' + b'{"a":' * 16 + b"1" + b"}" * 16), 2, "nested too deeply"),
    "depth 100,000": (with_key(b'"x": ' + b"[" * 100_000 + b"]" * 100_000), 2, "nested too deeply"),
    "65 unknown keys": (with_key(b", ".join(b'"k%d": 0' % i for i in range(65))), 2, "too many unknown keys"),
    "a line over 1 MiB": (with_key(b'"x": "' + b"a" * (1 << 20) + b'"'), 2, "too long"),
    "truncated": (GOOD[:-9], 3, "the last line is incomplete"),
    "a complete last line": (GOOD[:-1].replace(b'2, "', '2, "\u00e9": 1_0, "'.encode()) + b"\n", 3, "not valid JSON"),
    "trailing garbage": (GOOD.replace(b"}\n", b"} x\n", 1), 1, "not valid JSON"),
    "two documents on a line": (GOOD.replace(b"}\n", b"} {}\n", 1), 1, "not valid JSON"),
    "a comment": (GOOD.replace(b"\n", b" // yes\n", 1), 1, "not valid JSON"),
    "trailing comma": (GOOD.replace(b"}", b",}", 1), 1, "not valid JSON"),
    "single quotes": (GOOD.replace(b'"', b"'", 2), 1, "not valid JSON"),
    "a control character in a string": (with_key(b'"x": "\x01"'), 2, "not valid JSON"),
    "a leading zero": (with_key(b'"x": 01'), 2, "not valid JSON"),
    "1_0": (with_key(b'"x": 1_0'), 2, "not valid JSON"),
    "full-width 1": (GOOD.replace(b"1", "\uff11".encode()), 2, "not valid JSON"),
    "a list on top": (b"[1]\n" + GOOD, 1, "wrong type, found a list, expected an object"),
    "a string on top": (b'"x"\n' + GOOD, 1, "wrong type, found a string"),
    "null on top": (b"null\n" + GOOD, 1, "wrong type, found null"),
    "bool for an id": (GOOD.replace(b"1", b"true"), 2, "id has the wrong type"),
    "null for an id": (GOOD.replace(b"1", b"null"), 2, "id has the wrong type"),
    "1.0 for an integer": (GOOD.replace(b"1", b"1.0"), 2, "id has the wrong type"),
    "1e0 for an integer": (GOOD.replace(b"1", b"1e0"), 2, "id has the wrong type"),
    '"1" for 1': (GOOD.replace(b"1", b'"1"'), 2, 'unknown id, found "1" (a string), expected an integer'),
    "no id": (GOOD.replace(b'"id": 1', b'"ID": 1'), 2, "id is missing"),
    "a list as label": (GOOD.replace(b'"SUPPORTS"', b'["SUPPORTS"]', 1), 1, "predicted_label has the wrong type"),
    "an unknown label": (GOOD.replace(b"SUPPORTS", b"MAYBE", 1), 1, 'found "MAYBE", expected SUPPORTS, REFUTES'),
    "a label that upper() would accept": (GOOD.replace(b"S", "\u017f".encode(), 1), 1, "unknown predicted_label"),
    "a padded label": (GOOD.replace(b"SUPPORTS", b"SUPPORTS ", 1), 1, "unknown predicted_label"),
    "a duplicate id": (GOOD.replace(b"1", b"0"), 2, "duplicate id, found 0 (first on line 1)"),
    "an extra id": (GOOD + b'{"id": 7, "predicted_label": "SUPPORTS"}', 4, "unknown id, found 7"),
}


@pytest.mark.parametrize("content", ACCEPTED.values(), ids=ACCEPTED)
def test_valid_files_are_accepted(content):
    report = run_score(TASK, GOLD, content)
    assert report["ok"], report
    assert report["result"]["scores"][0]["value"] == 1.0


@pytest.mark.parametrize(("content", "line", "what"), REFUSED.values(), ids=REFUSED)
def test_invalid_files_are_refused(content, line, what):
    report = run_score(TASK, GOLD, content)
    assert report["fault"] == "predictions"
    first = report["problems"][0]
    assert (first["file"], first["line"]) == ("predictions.jsonl", line)
    assert what in first["text"]
    assert len(first["text"]) < 300
    assert first["text"].isprintable()


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["empty", "packed nothing"])
def test_an_empty_file_is_refused(content):
    name = "p.jsonl.gz" if content else "p.jsonl"
    (text,) = texts(run_score(TASK, GOLD, content, name=name))
    assert text == f"{name}: the file is empty, found 0 bytes, expected one JSON object per line"


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "an extra id"])
def test_gold_obeys_the_same_rules(name):
    content, line, _ = REFUSED[name]
    report = run_score(TASK, content.replace(b'"predicted_label"', b'"claim": "c", "label"'), GOOD)
    assert report["fault"] == "gold"
    assert (report["problems"][0]["file"], report["problems"][0]["line"]) == ("gold.jsonl", line)


def test_at_most_a_hundred_problems_are_listed_and_the_rest_counted():
    report = run_score(TASK, GOLD, b"x\n" * 250)
    assert len(report["problems"]) == 100
    assert report["more"] == 150
    assert [problem["line"] for problem in report["problems"]] == list(range(1, 101))


def test_missing_ids_are_reported_last_with_the_first_ten():
    gold = [{"id": f"c{i}", "claim": "c", "label": "REFUTES"} for i in range(15)]
    report = run_score(TASK, gold, b'{"id": "c3", "predicted_label": "no"}\n')
    assert texts(report) == [
        'predictions.jsonl:1: unknown predicted_label, found "no", expected SUPPORTS, REFUTES or NOT ENOUGH INFO',
        'predictions.jsonl: 14 ids are missing: "c0", "c1", "c2", "c4", "c5", "c6", "c7", "c8", "c9", "c10", ...',
    ]


def test_an_id_on_an_invalid_line_is_not_reported_as_missing():
    assert len(texts(run_score(TASK, GOLD, GOOD.replace(b"1", b"1.0")))) == 1


def test_unknown_keys_are_ignored_with_a_warning():
    content = GOOD.replace(b"}", b', "confidence": 0.5}')
    assert run_score(TASK, GOLD, content)["result"]["warnings"] == [
        'predictions.jsonl: key "confidence" is not part of the format, ignored on 3 lines, first on line 1'
    ]


def test_a_file_named_gz_is_decompressed():
    assert run_score(TASK, GOLD, gzip.compress(GOOD), name="p.jsonl.gz")["ok"]
    two_members = gzip.compress(GOOD[:50]) + gzip.compress(GOOD[50:])
    assert run_score(TASK, GOLD, two_members, name="p.jsonl.gz")["ok"]


def test_a_file_of_very_many_empty_gzip_members_is_refused():
    """Ten million of them fit into an upload, and would take minutes of processor time."""
    empty, limit = gzip.compress(b""), ReadLimits().members
    assert run_score(TASK, GOLD, empty * (limit - 1) + gzip.compress(GOOD), name="p.jsonl.gz")["ok"]
    stream = io.BytesIO(empty * 1_000_000)
    with pytest.raises(PredictionError) as error:
        list(chunks(stream, ReadLimits(), ProblemList("p.jsonl.gz", PredictionError)))
    assert str(error.value) == (
        "p.jsonl.gz: the file has too many gzip members, found over 10000, expected at most 10000"
    )
    assert stream.tell() < 20_000_000, "the file was read to its end"


def _wrong_crc():
    compressed = bytearray(gzip.compress(GOOD))
    compressed[-8] ^= 1
    return bytes(compressed)


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        (GOOD, "p.jsonl.gz", "not compressed, although its name ends in .gz, expected gzip data"),
        (gzip.compress(GOOD), "p.jsonl", "a name that ends in .gz"),
        (gzip.compress(GOOD)[:-3], "p.jsonl.gz", "ends too early"),
        (gzip.compress(GOOD) + b"junk", "p.jsonl.gz", "damaged gzip data"),
        (_wrong_crc(), "p.jsonl.gz", "damaged gzip data"),
        (gzip.compress(b" " * 5_000_000), "p.jsonl.gz", "line is too long"),
        (gzip.compress(gzip.compress(GOOD)), "p.jsonl.gz", "expected data that is compressed only once"),
    ],
    ids=["not gzip", "gzip by another name", "cut off", "junk behind", "wrong checksum", "bomb", "nested"],
)
def test_invalid_compressed_files_are_refused(content, name, what):
    report = run_score(TASK, GOLD, content, name=name)
    assert what in texts(report)[0]


def test_equal_lines_may_be_compressed_to_any_size():
    """2,000 equal rankings, as a baseline writes them, compress to under a hundredth."""
    ranking = [f"mention number {i}" for i in range(50)]
    gold = [{"id": i, "question": [f"s{i}", "r", "?"], "answers": ["x"], "filtered": []} for i in range(2000)]
    lines = b"".join(json.dumps({"id": i, "ranking": ranking}).encode() + b"\n" for i in range(2000))
    compressed = gzip.compress(lines, 9)
    assert len(lines) > 100 * len(compressed)
    assert run_score("link-prediction", gold, compressed, name="p.jsonl.gz")["ok"]


def test_the_limit_of_bytes_holds_after_decompression():
    many = gzip.compress(GOOD * 100_000)
    assert len(many) * 100 < len(GOOD * 100_000)
    with pytest.raises(PredictionError, match="too large"):
        read_all(many, name="p.gz", file_bytes=1_000_000)


def read_all(content, *, name="p", **limits):
    reader = Reader(name, PREDICTIONS, PredictionError, ReadLimits(**limits))
    records = list(reader.records(io.BytesIO(content)))
    reader.problems.raise_if_any()
    return records


def test_limits_of_bytes_and_lines():
    assert len(read_all(GOOD, file_bytes=len(GOOD), lines=3)) == 3
    with pytest.raises(PredictionError, match="too large"):
        read_all(GOOD, file_bytes=len(GOOD) - 1)
    with pytest.raises(PredictionError, match="too many lines"):
        read_all(GOOD, lines=2)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_lines_keep_their_numbers_across_blocks(newline):
    line = b'{"id": 1, "predicted_label": "' + b"S" * 1000 + b'"}'
    lines = [line] * 12_000  # three blocks
    lines[11_000] = b"oops"
    with pytest.raises(PredictionError) as raised:
        read_all(newline.join(lines))
    (problem,) = raised.value.problems
    assert problem.line == 11_001


def test_an_endless_line_needs_little_memory():
    class Endless(io.RawIOBase):
        left = 150

        def readable(self):
            return True

        def read(self, size=-1):
            self.left -= 1
            return b"a" * (1 << 20) if self.left >= 0 else b""

    reader = Reader("p", PREDICTIONS, GoldError)
    assert list(reader.records(Endless())) == []
    (problem,) = reader.problems.problems
    assert "too long" in str(problem)


def test_a_line_of_the_maximum_length_is_read():
    line = LINES[0]
    padded = line[:-1] + b" " * ((1 << 20) - len(line)) + b"}"
    assert len(padded) == 1 << 20
    assert len(read_all(padded)) == 1
    with pytest.raises(PredictionError, match="too long"):
        read_all(padded[:-1] + b" }")
