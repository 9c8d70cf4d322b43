"""Exact values of shares."""

from __future__ import annotations

import re
from fractions import Fraction

_LONG_EXPONENT = re.compile(r"[eE][-+]?\d[\d_]{2,}")


def parse_share(share: Fraction | float | str) -> Fraction:
    """Return the share exactly as it is written: 0.1 is a tenth, not the nearest binary fraction; 1/3 is a third.

    Raises ValueError or ZeroDivisionError unless it is a number, and for a text whose exponent has over two digits,
    since Fraction writes out all digits of 1e-99999999.
    """
    if isinstance(share, str) and _LONG_EXPONENT.search(share):
        raise ValueError("the exponent of the share has over two digits")
    return Fraction(str(share))
