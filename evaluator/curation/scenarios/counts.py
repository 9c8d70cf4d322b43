"""Numbers of claims of each kind in a scenario, in exact decimals (Huynh & Papotti 2019)."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import ceil

from evaluator.errors import UsageError, shown

Number = Decimal | Fraction | float | int | str
_WRITTEN = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,18})?")


def exact(what: str, value: Number, *, most: int | None = 1) -> Fraction:
    """Return the number exactly as its decimal is written: 0.8 is four fifths, not the nearest binary fraction.

    what: the name of the number, for the error message. most: the largest valid number; None: no limit. Raises
    UsageError unless the number is a plain decimal from 0 to `most`, such as 0.5.
    """
    text = str(value)
    if isinstance(value, Fraction):
        number = value
    elif _WRITTEN.fullmatch(text):
        number = Fraction(text)
    else:
        number = Fraction(-1)
    if number < 0 or (most is not None and number > most):
        limits = "from 0" if most is None else f"from 0 to {most}"
        expected = f"a decimal {limits} without an exponent, with at most 18 decimal places, such as 0.5"
        raise UsageError(f"{what} is {shown(text)}, expected {expected}")
    return number


def positives_and_negatives(size: int, ratio: Number) -> tuple[int, int]:
    """Return (number of true claims n+ = ceil(S r / (1 + r)), number of false claims n- = S - n+).

    S is the size, and r the ratio of true claims to false ones. Raises UsageError where one of the numbers is 0.
    """
    r = exact("ratio", ratio, most=None)
    positives = ceil(size * r / (1 + r))
    if not 0 < positives < size:
        raise UsageError(
            f"size {size} and ratio {shown(str(ratio))} give {positives} true claims and {size - positives} false "
            "ones, expected at least one true and one false claim"
        )
    return positives, size - positives


def ambiguous(transparency: Fraction, negatives: int) -> int:
    """Return the number of plausible false claims: floor((1 - t) n-), for transparency t and n- false claims."""
    return int((1 - transparency) * negatives)


def from_largest(homogeneity: Fraction, positives: int) -> int:
    """Return the number of true claims from the largest clusters: floor(h n+), for homogeneity h and n+ true claims."""
    return int(homogeneity * positives)
