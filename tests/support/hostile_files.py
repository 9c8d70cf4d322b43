"""Files that no benchmark should accept, each named after its problem; some look wrong but are valid."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from tests.support.rows.tiny_world import prediction_lines

CLAIMS = "tiny"
FACTS = "facts"
SCORES = "scores"
FACT = {
    "propertyId": "9",
    "subjectStart": 0,
    "subjectEnd": 3,
    "objectStart": 17,
    "objectEnd": 21,
    "subjectUri": "http://kb.example/Q1",
    "objectUri": "http://kb.example/Q2",
}
PASSAGES = ("d1:0:22", "d2:0:22")
FACTS_GOLD = b"".join(
    json.dumps(
        {
            "documentId": passage[:2],
            "documentText": "Ada lived in old Paris",
            "passages": [
                {
                    "passageId": passage,
                    "passageStart": 0,
                    "passageEnd": 22,
                    "passageText": "Ada lived in old Paris",
                    "exhaustivelyAnnotatedProperties": [{"propertyId": "9", "propertyName": "PLACE_OF_RESIDENCE"}],
                    "facts": [FACT],
                }
            ],
        }
    ).encode()
    + b"\n"
    for passage in PASSAGES
)

TRIPLE = {"relation": "lies in", "object": "X"}
SCORES_GOLD = b"".join(
    json.dumps({"id": f"s{n}", "subject": f"town {n}", **TRIPLE, "label": n % 2 == 0}).encode() + b"\n"
    for n in range(4)
)
HOSTED = {FACTS: ("knowledge-base-population", FACTS_GOLD), SCORES: ("fact-checking", SCORES_GOLD)}
"""Further benchmarks of the test world: task and gold."""


@dataclass(frozen=True)
class Case:
    """A file and the expected result: the `line` with the problem (None: the whole file), or acceptance."""

    name: str
    make: Callable[[], bytes]
    line: int | None = 1
    benchmark: str = CLAIMS
    file: str = "predictions.jsonl"
    accepted: bool = False


def good() -> bytes:
    return prediction_lines()


def with_line(line: bytes, number: int = 2) -> Callable[[], bytes]:
    """A good file with line `number`, from 1, replaced."""

    def make() -> bytes:
        lines = good().splitlines(keepends=True)
        return b"".join([*lines[: number - 1], line + b"\n", *lines[number:]])

    return make


def with_label(label: str) -> Callable[[], bytes]:
    """A good file with this JSON text as the second line's label."""
    return with_line(b'{"id": "a2", "predicted_label": ' + label.encode("utf-8", "surrogatepass") + b"}")


def with_key(text: str) -> Callable[[], bytes]:
    """A good file with this JSON text added to the second line."""
    return with_line(b'{"id": "a2", "predicted_label": "REFUTES", ' + text.encode("utf-8", "surrogatepass") + b"}")


def a_million_keys() -> bytes:
    return with_key(", ".join(f'"k{n}": 0' for n in range(1_000_000)))()


def with_id(identifier: str) -> Callable[[], bytes]:
    return with_line(json.dumps({"id": identifier, "predicted_label": "REFUTES"}, ensure_ascii=False).encode())


def with_offset(text: str) -> Callable[[], bytes]:
    """Predicted facts; on the second line the first offset is this JSON text."""

    def make() -> bytes:
        first, second = (json.dumps({"documentId": p[:2], "passageId": p, "facts": [FACT]}) for p in PASSAGES)
        changed = second.replace('"subjectStart": 0', f'"subjectStart": {text}')
        return f"{first}\n{changed}\n".encode()

    return make


def with_score(text: str) -> Callable[[], bytes]:
    """Scores; the second is this JSON text."""
    return lambda: b"".join(
        b'{"id": "s%d", "score": %s}\n' % (n, text.encode() if n == 1 else b"0.5") for n in range(4)
    )


def recoded(encoding: str) -> Callable[[], bytes]:
    return lambda: good().decode().encode(encoding)


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, good())
    return buffer.getvalue()


def linked() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("predictions.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return buffer.getvalue()


def bomb() -> bytes:
    """A gzip file of 150 MB of blanks."""
    return gzip.compress(b" " * 1_000_000, 9) * 150


def crc_error() -> bytes:
    packed = bytearray(gzip.compress(good()))
    packed[-8] ^= 0xFF
    return bytes(packed)


class Trap:
    """Raises when it is unpickled, which nothing may do."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('unpickled')",))


ENCODING = [
    Case("empty", lambda: b"", None),
    Case("white_space_only", lambda: b"   \n \n"),
    Case("utf8_bom", lambda: codecs.BOM_UTF8 + good()),
    Case("utf16le", recoded("utf-16-le")),
    Case("utf16be", recoded("utf-16-be")),
    Case("utf16_with_bom", recoded("utf-16")),
    Case("utf32", recoded("utf-32")),
    Case("bad_utf8", with_line(b'{"id": "a2", "predicted_label": "REF\xffTES"}'), 2),
    Case("overlong_utf8", with_line(b'{"id": "a2", "predicted_label": "\xc0\xaf"}'), 2),
    Case("lone_surrogate", with_label('"\ud800"'), 2),
    Case("lone_surrogate_escaped", with_label('"\\ud800"'), 2),
    Case("lone_surrogate_in_unknown_key", with_key('"note": "\\udc00"'), 2),
    Case("nul_byte", with_line(b'{"id": "a2", "predicted_label": "REFUTES\x00"}'), 2),
    Case("nul_escaped", with_key('"note": "\\u0000"'), 2),
    Case("cr_only", lambda: good().replace(b"\n", b"\r")),
    Case("mixed_newlines", lambda: good().replace(b"\n", b"\r\n", 1).replace(b"\n", b"\r", 2)),
    Case("no_final_newline", lambda: good().rstrip(b"\n"), accepted=True),
    Case("crlf", lambda: good().replace(b"\n", b"\r\n"), accepted=True),
    Case("right_to_left_override", with_id("\u202ea2"), 2),
    Case("nfd_twin_id", with_id("a\u03012"), 2),
    Case("nfc_twin_id", with_id("\u00e12"), 2),
    Case("zero_width_id", with_id("a\u200b2"), 2),
    Case("homoglyph_id", with_id("\u04302"), 2),
]
JSON = [
    Case("duplicate_keys", with_key('"predicted_label": "SUPPORTS"'), 2),
    Case("duplicate_keys_deep", with_key('"note": {"x": 1, "x": 2}'), 2),
    Case("nan", with_key('"note": NaN'), 2),
    Case("infinity", with_key('"note": -Infinity'), 2),
    Case("beyond_float64", with_key('"note": 1e999'), 2),
    Case("integer_of_5000_digits", with_key('"note": ' + "9" * 5000), 2),
    Case("depth_100000", with_key('"note": ' + "[" * 100_000 + "]" * 100_000), 2),
    Case("depth_17", with_key('"note": ' + "[" * 17 + "]" * 17), 2),
    Case("truncated", lambda: good()[:-20], 4),
    Case("trailing_garbage", lambda: good() + b"}}\n", 5),
    Case("wrong_top_type", with_line(b'["a2", "REFUTES"]'), 2),
    Case("top_level_null", with_line(b"null"), 2),
    Case("one_array", lambda: b"[" + b",".join(good().splitlines()) + b"]", line=None),
    Case("comments", with_line(b'{"id": "a2", "predicted_label": "REFUTES"} // so there'), 2),
    Case("two_documents_on_a_line", lambda: good().replace(b"\n", b" ", 1)),
    Case("blank_line", with_line(b""), 2),
    Case("single_quotes", with_line(b"{'id': 'a2', 'predicted_label': 'REFUTES'}"), 2),
    Case("proto", with_key('"__proto__": {"predicted_label": "SUPPORTS"}'), accepted=True),
    Case("sixty_five_unknown_keys", with_key(", ".join(f'"k{n}": 0' for n in range(65))), 2),
    Case("a_million_unknown_keys", a_million_keys, 2),
    Case("a_gold_key", with_key('"label": "REFUTES"'), accepted=True),
]
VALUES = [
    Case("missing_id", lambda: good().split(b"\n", 1)[1], None),
    Case("no_id_key", with_line(b'{"predicted_label": "REFUTES"}'), 2),
    Case("extra_id", lambda: good() + b'{"id": "a5", "predicted_label": "REFUTES"}\n', 5),
    Case("duplicate_id", lambda: good() + b'{"id": "a2", "predicted_label": "REFUTES"}\n', 5),
    Case("another_tasks_id", with_id("d1"), 2),
    Case("a_training_id", with_id("train-17"), 2),
    Case("id_as_number", with_line(b'{"id": 2, "predicted_label": "REFUTES"}'), 2),
    Case("id_null", with_line(b'{"id": null, "predicted_label": "REFUTES"}'), 2),
    Case("id_true", with_line(b'{"id": true, "predicted_label": "REFUTES"}'), 2),
    Case("reordered", lambda: b"".join(reversed(good().splitlines(keepends=True))), accepted=True),
    Case("unknown_label", with_label('"MAYBE"'), 2),
    Case("null_label", with_label("null"), 2),
    Case("number_as_label", with_label("1"), 2),
    Case("bool_as_label", with_label("true"), 2),
    Case("list_as_label", with_label('["REFUTES"]'), 2),
    Case("full_width_label", with_label('"\uff32EFUTES"'), 2),
    Case("label_of_8_mb", with_label('"' + "R" * 8_000_000 + '"'), 2),
    Case("minus_zero", with_key('"confidence": -0.0'), accepted=True),
    Case("offset_true", with_offset("true"), 2, FACTS),
    Case("offset_as_string", with_offset('"1"'), 2, FACTS),
    Case("offset_1.0", with_offset("1.0"), 2, FACTS),
    Case("offset_1.5", with_offset("1.5"), 2, FACTS),
    Case("offset_null", with_offset("null"), 2, FACTS),
    Case("offset_full_width", with_offset("\uff11"), 2, FACTS),
    Case("offset_1_0", with_offset("1_0"), 2, FACTS),
    Case("offset_01", with_offset("01"), 2, FACTS),
    Case("offset_of_5000_digits", with_offset("9" * 5000), 2, FACTS),
    Case("offset_minus_zero", with_offset("-0"), 2, FACTS, accepted=True),
    Case("offset_inverted", with_offset("99"), 2, FACTS, accepted=True),
]
NUMBERS = [
    Case("score_true", with_score("true"), 2, SCORES),
    Case("score_null", with_score("null"), 2, SCORES),
    Case("score_as_string", with_score('"1"'), 2, SCORES),
    Case("score_as_list", with_score("[1]"), 2, SCORES),
    Case("score_nan", with_score("NaN"), 2, SCORES),
    Case("score_infinity", with_score("Infinity"), 2, SCORES),
    Case("score_1e999", with_score("1e999"), 2, SCORES),
    Case("score_of_5000_digits", with_score("9" * 5000), 2, SCORES),
    Case("score_full_width", with_score("\uff11"), 2, SCORES),
    Case("score_1_0", with_score("1_0"), 2, SCORES),
    Case("score_hexadecimal", with_score("0x1p3"), 2, SCORES),
    Case("score_plus_1", with_score("+1"), 2, SCORES),
    Case("score_minus_zero", with_score("-0.0"), 2, SCORES, accepted=True),
    Case("score_integer", with_score("-7"), 2, SCORES, accepted=True),
    Case("score_1e308", with_score("-1e308"), 2, SCORES, accepted=True),
]
FILES = [
    Case("zip", lambda: zipped("predictions.jsonl"), line=None),
    Case(
        "zip_slip", lambda: zipped("../../predictions.jsonl", "/etc/x", "a\\..\\b"), file="predictions.zip", line=None
    ),
    Case("zip_called_gz", lambda: zipped("predictions.jsonl"), None, file="predictions.jsonl.gz"),
    Case("tar_of_a_symlink", linked, file="predictions.tar"),
    Case("gzip_without_gz", lambda: gzip.compress(good()), None),
    Case("gz_that_is_plain", good, None, file="predictions.jsonl.gz"),
    Case("gzip_bomb", bomb, 1, file="predictions.jsonl.gz"),
    Case("nested_gzip", lambda: gzip.compress(gzip.compress(good())), None, file="predictions.jsonl.gz"),
    Case("gzip_crc_error", crc_error, None, file="predictions.jsonl.gz"),
    Case("gzip_cut_off", lambda: gzip.compress(good())[:-9], None, file="predictions.jsonl.gz"),
    Case("pickle", lambda: pickle.dumps(Trap()), file="predictions.pkl", line=None),
    Case("npy_of_objects", lambda: b"\x93NUMPY\x01\x00v\x00" + pickle.dumps(Trap()), file="predictions.npy"),
    Case("polyglot", lambda: good() + zipped("x"), 5),
    Case("upper_case_gz", lambda: gzip.compress(good()), None, file="PREDICTIONS.JSONL.GZ"),
    Case("gz", lambda: gzip.compress(good()), file="predictions.jsonl.gz", accepted=True),
    Case("two_gzip_members", lambda: b"".join(map(gzip.compress, good().splitlines(True))), file="p.gz", accepted=True),
]
ALL = [*ENCODING, *JSON, *VALUES, *NUMBERS, *FILES]
