"""Number formats of pages."""

from __future__ import annotations

import json

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

NONE = "\N{EN DASH}"


def score(value: float | None) -> str:
    """Format a score with three decimals; None as an en dash."""
    return NONE if value is None else _typographic(f"{value:.3f}")


def signed(value: float | None) -> str:
    """Format a difference with three decimals and its sign; None as an en dash."""
    return NONE if value is None else f"{'+' if round(value, 3) > 0 else ''}{score(value)}"


def p_value(value: float | None) -> str:
    """Format a p-value with three decimals; values below 0.001 as `<0.001`; None as an en dash."""
    return NONE if value is None else "<\N{NO-BREAK SPACE}0.001" if value < 0.001 else f"{value:.3f}"


def compact(value: float | None, decimals: int = 3) -> str:
    """Format a number without the zero before the decimal point (`.523`), for dense tables; None as an en dash."""
    if value is None:
        return NONE
    text = f"{value:.{decimals}f}"
    return _typographic(text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text)


def spent(value: float | None) -> str:
    """Format a cost with at most two decimals: `2.83`, `1,450`; None as an en dash."""
    return NONE if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")


def interval(shown: object) -> str:
    """Format the interval of a score or comparison as `[0.501, 0.546]`; empty if it has no interval."""
    low, high = getattr(shown, "low", None), getattr(shown, "high", None)
    return "" if low is None or high is None else f"[{score(low)}, {score(high)}]"


def scored(shown: object) -> SafeString:
    """Return HTML of a score with its interval below. A function, not a template: a board has thousands of scores."""
    ends = interval(shown)
    # Only digits and signs that we format: nothing needs escaping.
    below = f' <span class="interval">{ends}</span>' if ends else ""
    return SafeString(f'<span class="value">{score(getattr(shown, "value", None))}</span>{below}')


def in_words(shown: object) -> str:
    """Describe a score for tooltips and screen readers: `0.523, interval 0.501 to 0.546, n 124`."""
    value, low, high, n = (getattr(shown, name, None) for name in ("value", "low", "high", "n"))
    if value is None:
        return "no value"
    ends = "" if low is None else f", interval {score(low)} to {score(high)}"
    return f"{score(value)}{ends}" + (f", n {n}" if n else "")


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
