"""Range headers: which part of a file they name."""

from __future__ import annotations

import pytest

from leaderboard.core.web.byte_ranges import UnsatisfiableError, range_of


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=2-5", (2, 6)),
        ("bytes=2-", (2, 10)),
        ("bytes=2-99", (2, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("", None),
        ("bytes=-", None),
        ("bytes=5-2", None),
        ("bytes=0-1,4-5", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
        ("bytes=" + "9" * 5000 + "-", None),
    ],
)
def test_parts(header: str, expected: tuple[int, int] | None) -> None:
    assert range_of(header, 10) == expected


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), ("bytes=-1", 0)])
def test_parts_without_a_byte(header: str, size: int) -> None:
    with pytest.raises(UnsatisfiableError):
        range_of(header, size)
