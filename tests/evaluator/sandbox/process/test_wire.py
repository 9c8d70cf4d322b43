"""The parts that need no server: frames, diagnoses, files."""

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
def test_a_frame_comes_back_as_it_went(report: dict[str, Any], attachment: bytes) -> None:
    received = framed(protocol.encode_report(report), attachment)
    assert protocol.read_frame(received) == (report, attachment)


@given(st.dictionaries(st.text(), JSON), st.binary(), st.data())
def test_a_frame_of_another_length_does_not(report: dict[str, Any], attachment: bytes, data: st.DataObject) -> None:
    received = framed(protocol.encode_report(report), attachment)
    cut = data.draw(st.integers(0, len(received) - 1))
    more = data.draw(st.binary(min_size=1))
    for wrong in (received[:cut], received + more):
        with pytest.raises(ValueError, match="report"):
            protocol.read_frame(wrong)


@given(st.binary())
def test_noise_is_no_frame(noise: bytes) -> None:
    with pytest.raises(ValueError, match="report"):
        protocol.read_frame(noise)


@given(st.binary(max_size=40))
def test_noise_is_no_report(noise: bytes) -> None:
    """Whatever stands where the report should, it is an object or it is refused, and an error quotes none of it."""
    try:
        report, _ = protocol.read_frame(framed(noise, b""))
    except ValueError as problem:
        assert str(problem) == "the report is not a JSON object"
    else:
        assert isinstance(report, dict)


def test_a_packet_has_its_bound() -> None:
    with pytest.raises(ValueError, match="expected at most"):
        protocol.pack(protocol.Order(job="x" * protocol.PACKET_BYTES, arguments={}, files=[]))


def deep(depth: int) -> None:
    if depth:
        deep(depth - 1)
    raise KeyError("canary of gold")


@pytest.mark.parametrize("depth", [0, 3, 100])
def test_a_diagnosis_says_where_and_not_what(depth: int) -> None:
    with pytest.raises(KeyError) as caught:
        deep(depth)
    said = sanitized_errors.sanitise(sanitized_errors.describe(caught.value))
    assert said.startswith("KeyError at ") and said.endswith(" in deep") and "canary" not in said
    assert said.count(" at ") == min(depth + 2, sanitized_errors.MOST_FRAMES)


def test_a_diagnosis_names_an_errno() -> None:
    assert sanitized_errors.describe(PermissionError(1, "canary")) == b"PermissionError errno 1"


@pytest.mark.parametrize(
    "text", ["", "two words", "Name\n", "Name at x", "Ünicode", "Name errno x", "x" * 81, "A at b:1 in c d"]
)
def test_what_is_no_diagnosis_is_not_shown(text: str) -> None:
    assert sanitized_errors.sanitise(text.encode()) == "no valid diagnosis"


@given(
    st.binary(max_size=200),
    st.lists(st.tuples(st.sampled_from(["read", "readline", "seek", "end", "peek"]), st.integers(0, 220))),
)
def test_an_open_file_reads_like_any_other(content: bytes, steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        ours, plain = open_file(file.fileno()), io.BytesIO(content)
        for what, size in steps:
            if what == "read":
                assert ours.read(size) == plain.read(size)
            elif what == "readline":
                assert ours.readline() == plain.readline()
            elif what == "peek":
                assert ours.peek(1)[:1] == content[plain.tell() : plain.tell() + 1]
            elif what == "seek":
                assert ours.seek(size) == plain.seek(size)
            else:
                assert ours.seek(-min(size, len(content)), os.SEEK_END) == plain.seek(
                    -min(size, len(content)), os.SEEK_END
                )
            assert ours.tell() == plain.tell()
        assert ours.read() == plain.read()
        with pytest.raises(ValueError, match="seek to -1"):
            ours.seek(-1)
