"""Measures that organisers declare."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evaluator.custom_scorer.measures import MOST, check_declaration, measures_of
from evaluator.errors import UsageError

GOOD = {"name": "gain", "title": "Gain", "doc": "x", "lower": None, "upper": 1, "higher_is_better": True}


def test_a_declaration_becomes_measures() -> None:
    (measure,) = measures_of(check_declaration([GOOD], "gain"))
    assert (measure.name, measure.title, measure.low, measure.high, measure.best) == ("gain", "Gain", -math.inf, 1, 1)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ([], "0 measures are declared, expected 1"),
        ([{**GOOD, "name": f"m{i}"} for i in range(MOST + 1)], "measures are declared"),
        ({}, "do not fit their schema"),
        ([{**GOOD, "extra": 1}], "unknown field"),
        ([{"name": "gain"}], "missing required field"),
        ([{**GOOD, "name": "Gain"}], "a-z, 0-9 and _"),
        ([{**GOOD, "name": "gain\n"}], "a-z, 0-9 and _"),
        ([{**GOOD, "name": "system"}], "none of: date"),
        ([{**GOOD, "name": "a[b=c]"}], "a-z, 0-9 and _"),
        ([GOOD, GOOD], "declared twice"),
        ([{**GOOD, "title": " "}], "the title of gain has 1 characters"),
        ([{**GOOD, "doc": "x" * 1001}], "the doc of gain has 1001"),
        ([{**GOOD, "lower": 1}], "the bounds of gain are 1.0 and 1.0"),
        ([{**GOOD, "lower": 1.0000001}], "the bounds of gain are 1.0000001 and 1.0"),
        ([{**GOOD, "lower": "0"}], "do not fit their schema"),
        ([{**GOOD, "higher_is_better": None}], "has no direction"),
        ([{**GOOD, "name": "other"}], 'the primary measure is "gain", expected one of: other'),
    ],
)
def test_invalid_declarations_are_refused(declaration: Any, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        check_declaration(declaration, "gain")
    assert expected in str(error.value)
