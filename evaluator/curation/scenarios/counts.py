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
    """Return the decimal as it is written: .8 is four fifths, not the nearest binary fraction.

    Raises UsageError unless it is a number from 0 to `most`.
    """
    text = str(value)
    if isinstance(value, Fraction):
        number = value
    elif _WRITTEN.fullmatch(text):
        number = Fraction(text)
    else:
        number = Fraction(-1)
    if number < 0 or (most is not None and number > most):
        expected = f"a decimal from 0 to {most}" if most is not None else "a decimal above 0"
        raise UsageError(f"{what} is {shown(text)}, expected {expected}")
    return number


def positives_and_negatives(size: int, ratio: Number) -> tuple[int, int]:
    """Return n+ = ceil(S r / (1 + r)) and n- = S - n+, where r is the ratio of true claims to false ones.

    Raises UsageError where one of them is 0.
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
    """Return floor((1 - t) n-), the number of plausible false claims."""
    return int((1 - transparency) * negatives)


def from_largest(homogeneity: Fraction, positives: int) -> int:
    """Return floor(h n+), the number of true claims from the largest clusters."""
    return int(homogeneity * positives)
