"""How numbers read on a page."""

from __future__ import annotations

import json

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

NONE = "\N{EN DASH}"


def score(value: float | None) -> str:
    """Three decimals; an en dash where there is no value."""
    return NONE if value is None else _typographic(f"{value:.3f}")


def signed(value: float | None) -> str:
    """A difference: three decimals with their sign."""
    return NONE if value is None else f"{'+' if round(value, 3) > 0 else ''}{score(value)}"


def p_value(value: float | None) -> str:
    """Three decimals, and what is less than they can say as that."""
    return NONE if value is None else "<\N{NO-BREAK SPACE}0.001" if value < 0.001 else f"{value:.3f}"


def compact(value: float | None, decimals: int = 3) -> str:
    """Without the zero before the point, for dense tables."""
    if value is None:
        return NONE
    text = f"{value:.{decimals}f}"
    return _typographic(text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text)


def spent(value: float | None) -> str:
    """A cost, a step of three digits: `2.83`, `1,450`."""
    return NONE if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")


def interval(cell: object) -> str:
    """`[0.501, 0.546]`, or nothing."""
    low, high = getattr(cell, "low", None), getattr(cell, "high", None)
    return "" if low is None or high is None else f"[{score(low)}, {score(high)}]"


def scored(cell: object) -> SafeString:
    """A value with its interval beneath, as markup; a filter, because a board has thousands of them."""
    ends = interval(cell)
    # Digits and signs of our own: nothing to be escaped.
    beneath = f' <span class="interval">{ends}</span>' if ends else ""
    return SafeString(f'<span class="value">{score(getattr(cell, "value", None))}</span>{beneath}')


def in_words(cell: object) -> str:
    """A cell as one phrase, for titles and for those who listen: `0.523, interval 0.501 to 0.546, n 124`."""
    value, low, high, n = (getattr(cell, name, None) for name in ("value", "low", "high", "n"))
    if value is None:
        return "no value"
    ends = "" if low is None else f", interval {score(low)} to {score(high)}"
    return f"{score(value)}{ends}" + (f", n {n}" if n else "")


def bound(value: float) -> str:
    """A bound of a measure, as short as it can be said."""
    if value in (float("inf"), float("-inf")):
        return _typographic("∞" if value > 0 else "-∞")
    return _typographic(f"{value:g}")


def as_json(value: object) -> str:
    """Options and the like as JSON writes them."""
    return json.dumps(value, ensure_ascii=False)


def breakable(name: str) -> SafeString:
    """A name that may break after its underscores."""
    return format_html_join(SafeString("_<wbr>"), "{}", ((part,) for part in name.split("_")))


def _typographic(text: str) -> str:
    if "-" not in text:
        return text
    if not text.strip("-0."):
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")
