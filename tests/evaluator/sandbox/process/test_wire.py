"""The parts that need no server: frames, diagnostics and files."""

from __future__ import annotations

import io
import os
import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.sandbox.openfile import open_file
from evaluator.sandbox.process import protocol, sanitized_errors

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def framed(report: bytes, attachment: bytes) -> bytes:
    return protocol.frame_header(report, attachment) + report + attachment


@given(st.dictionaries(st.text(), JSON), st.binary())
def test_a_frame_survives_encoding_and_decoding(report: dict[str, Any], attachment: bytes) -> None:
    received = framed(protocol.encode_report(report), attachment)
    assert protocol.read_frame(received) == (report, attachment)


@given(st.dictionaries(st.text(), JSON), st.binary(), st.data())
def test_a_frame_of_the_wrong_length_is_refused(report: dict[str, Any], attachment: bytes, data: st.DataObject) -> None:
    received = framed(protocol.encode_report(report), attachment)
    cut = data.draw(st.integers(0, len(received) - 1))
    more = data.draw(st.binary(min_size=1))
    for wrong in (received[:cut], received + more):
        with pytest.raises(ValueError, match="report"):
            protocol.read_frame(wrong)


@given(st.binary())
def test_random_bytes_are_refused_as_a_frame(noise: bytes) -> None:
    with pytest.raises(ValueError, match="report"):
        protocol.read_frame(noise)


@given(st.binary(max_size=40))
def test_random_bytes_are_refused_as_a_report(noise: bytes) -> None:
    """Bytes in place of the report are an object or are refused, and the error does not quote them."""
    try:
        report, _ = protocol.read_frame(framed(noise, b""))
    except ValueError as problem:
        assert str(problem) == "the report is not a JSON object"
    else:
        assert isinstance(report, dict)


def test_a_packet_has_a_maximum_size() -> None:
    with pytest.raises(ValueError, match="expected at most"):
        protocol.pack(protocol.Order(job="x" * protocol.PACKET_BYTES, arguments={}, files=[]))


def deep(depth: int) -> None:
    if depth:
        deep(depth - 1)
    raise KeyError("canary of gold")


@pytest.mark.parametrize("depth", [0, 3, 100])
def test_a_diagnosis_has_locations_and_no_message(depth: int) -> None:
    with pytest.raises(KeyError) as caught:
        deep(depth)
    diagnosis = sanitized_errors.sanitise(sanitized_errors.describe(caught.value))
    assert diagnosis.startswith("KeyError at ") and diagnosis.endswith(" in deep") and "canary" not in diagnosis
    assert diagnosis.count(" at ") == min(depth + 2, sanitized_errors.MOST_FRAMES)


def test_a_diagnosis_contains_the_errno() -> None:
    assert sanitized_errors.describe(PermissionError(1, "canary")) == b"PermissionError errno 1"


@pytest.mark.parametrize(
    "text", ["", "two words", "Name\n", "Name at x", "Ünicode", "Name errno x", "x" * 81, "A at b:1 in c d"]
)
def test_an_invalid_diagnosis_is_not_shown(text: str) -> None:
    assert sanitized_errors.sanitise(text.encode()) == "no valid diagnosis"


@given(
    st.binary(max_size=200),
    st.lists(st.tuples(st.sampled_from(["read", "readline", "seek", "end", "peek"]), st.integers(0, 220))),
)
def test_an_open_file_reads_like_a_plain_file(content: bytes, steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        opened, plain = open_file(file.fileno()), io.BytesIO(content)
        for operation, size in steps:
            if operation == "read":
                assert opened.read(size) == plain.read(size)
            elif operation == "readline":
                assert opened.readline() == plain.readline()
            elif operation == "peek":
                assert opened.peek(1)[:1] == content[plain.tell() : plain.tell() + 1]
            elif operation == "seek":
                assert opened.seek(size) == plain.seek(size)
            else:
                assert opened.seek(-min(size, len(content)), os.SEEK_END) == plain.seek(
                    -min(size, len(content)), os.SEEK_END
                )
            assert opened.tell() == plain.tell()
        assert opened.read() == plain.read()
        with pytest.raises(ValueError, match="seek to -1"):
            opened.seek(-1)
