"""Number formats of pages.

A score is given as a ShownScore or another object with some of its attributes: value, low, high, n and bounds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from leaderboard.boards.queries.rows import DECIMALS

NONE = "\N{EN DASH}"
_LEADING_ZERO = re.compile(r"^(\D*)0\.")


def score(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a score; None as an en dash."""
    return NONE if value is None else _typographic(f"{value:.{decimals}f}")


def decimals_of(shown: object) -> int:
    """Return with how many decimals the numbers of a score or comparison are written."""
    decimals: int = getattr(shown, "decimals", DECIMALS)
    return decimals


def shown_value(shown: object, most: int | None = None) -> str:
    """Format the value of a score (ShownScore); on a ladder its bounds, rounded outwards: `≥ 0.456`.

    most: the most decimals; None: no limit. At most 2 are shown of bounds that form a range.
    """
    bounds = getattr(shown, "bounds", None)
    decimals = decimals_of(shown) if most is None else min(most, decimals_of(shown))
    if bounds is None:
        value: float | None = getattr(shown, "value", None)
        return score(value, decimals)
    low, high = bounds.at_least, bounds.at_most
    if bounds.is_range:
        decimals = min(decimals, 2)
    least, greatest = _rounded(low, decimals, math.floor), _rounded(high, decimals, math.ceil)
    if low is not None and low == high:
        return least
    if bounds.is_range and least and greatest:
        return f"{least} to {greatest}"
    is_upper = getattr(shown, "value", None) != low
    return f"≤\N{NO-BREAK SPACE}{greatest}" if is_upper else f"≥\N{NO-BREAK SPACE}{least}"


def true_score(shown: object) -> str:
    """Return the bounds of a ladder's score (`shown.bounds`) in words: `true score between 0.456 and 0.548`.

    Empty without bounds.
    """
    bounds = getattr(shown, "bounds", None)
    if bounds is None:
        return ""
    least, most = _rounded(bounds.at_least, 3, math.floor), _rounded(bounds.at_most, 3, math.ceil)
    if least == most:
        return f"true score {least}"
    if least and most:
        return f"true score between {least} and {most}"
    return f"true score at least {least}" if least else f"true score at most {most}"


def _rounded(end: float | None, decimals: int, rounding: Callable[[float], int]) -> str:
    """Format the bound `end` of a true score, rounded by `math.floor` or `math.ceil`; empty without a bound."""
    if end is None:
        return ""
    # A value that should have fewer decimals, such as 0.57, may be off by a floating-point error.
    return _typographic(f"{rounding(round(end * 10**decimals, 6)) / 10**decimals:.{decimals}f}")


def signed(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a difference with its sign; None as an en dash."""
    return NONE if value is None else f"{'+' if round(value, decimals) > 0 else ''}{score(value, decimals)}"


def p_value(value: float | None) -> str:
    """Format a p-value with three decimals; values below 0.001 as `<0.001`; None as an en dash."""
    return NONE if value is None else "<\N{NO-BREAK SPACE}0.001" if value < 0.001 else f"{value:.3f}"


def compact(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a number without the zero before the decimal point (`.523`), for dense tables; None as an en dash."""
    return NONE if value is None else _without_zero(_typographic(f"{value:.{decimals}f}"))


def compact_score(shown: object, most: int = DECIMALS) -> str:
    """Format the value of a score (ShownScore) as `compact` does; on a ladder the bounds of the true score: `≥.456`."""
    if getattr(shown, "bounds", None) is None:
        return compact(getattr(shown, "value", None), min(most, decimals_of(shown)))
    return " ".join(map(_without_zero, shown_value(shown, most).replace("\N{NO-BREAK SPACE}", "").split(" ")))


def _without_zero(text: str) -> str:
    return _LEADING_ZERO.sub(r"\1.", text, count=1)


def spent(value: float | None) -> str:
    """Format a number with at most two decimals: `2.83`, `1,450`; None as an en dash."""
    return NONE if value is None else _typographic(f"{value:,.2f}".rstrip("0").rstrip("."))


def interval(shown: object) -> str:
    """Format the interval of a score or comparison (`low` to `high`) as `[0.501, 0.546]`; empty if it has none."""
    low, high = getattr(shown, "low", None), getattr(shown, "high", None)
    if low is None or high is None:
        return ""
    decimals = decimals_of(shown)
    return f"[{score(low, decimals)}, {score(high, decimals)}]"


def scored(shown: object) -> SafeString:
    """Return HTML of a score (a ShownScore) with its interval below.

    A function, not a template, because a board has thousands of scores.
    """
    ends = interval(shown)
    # Only digits and signs that we format: nothing needs escaping.
    below = f' <span class="interval">{ends}</span>' if ends else ""
    if getattr(shown, "bounds", None) is None:
        return SafeString(f'<span class="value">{shown_value(shown)}</span>{below}')
    return SafeString(f'<span class="value" title="{true_score(shown)}">{shown_value(shown)}</span>')


def in_words(shown: object, *, with_value: bool = True, with_n: bool = True) -> str:
    """Describe a score (a ShownScore) for tooltips and screen readers: `0.523, interval 0.501 to 0.546, n 124`.

    with_value: False where the value is next to it; the bounds of a ladder's score are described all the same. with_n:
    False where the heading of the column has it.
    """
    value, low, high, n = (getattr(shown, name, None) for name in ("value", "low", "high", "n"))
    if value is None:
        return "no value"
    decimals = decimals_of(shown)
    first = true_score(shown) or (score(value, decimals) if with_value else "")
    ends = "" if low is None else f"interval {score(low, decimals)} to {score(high, decimals)}"
    return ", ".join(part for part in (first, ends, f"n {n}" if n and with_n else "") if part)


def bound(value: float) -> str:
    """Format a bound of a measure as short as possible; infinity as `∞`."""
    if value in (float("inf"), float("-inf")):
        return _typographic("∞" if value > 0 else "-∞")
    return _typographic(f"{value:g}")


def as_json(value: object) -> str:
    """Format a value (such as options) as JSON."""
    return json.dumps(value, ensure_ascii=False)


def breakable(name: str) -> SafeString:
    """Return a name with optional line breaks after its underscores."""
    return format_html_join(SafeString("_<wbr>"), "{}", ((part,) for part in name.split("_")))


def _typographic(text: str) -> str:
    if "-" not in text:
        return text
    if not text.strip("-0."):
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")
