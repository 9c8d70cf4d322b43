"""Template filters for numbers.

Most are functions of `leaderboard.boards.web.tables.number_format`, under the same names. `decimal` formats sizes in
bytes in decimal units (kB, MB, GB), as `docker` does.
"""

from __future__ import annotations

import math

from django import template

from leaderboard.boards.web.tables import number_format
from leaderboard.evaluation.container_limits_text import size

register = template.Library()

for _filter in (
    number_format.score,
    number_format.shown_value,
    number_format.true_score,
    number_format.signed,
    number_format.p_value,
    number_format.compact,
    number_format.compact_score,
    number_format.spent,
    number_format.interval,
    number_format.scored,
    number_format.in_words,
    number_format.bound,
    number_format.as_json,
    number_format.breakable,
):
    register.filter(_filter)
register.filter("decimal", size)


@register.filter
def percent(value: float | None) -> str:
    """Format a proportion from 0 to 1 in per cent, rounded down to at most one decimal; None as an en dash.

    It is rounded down so that a value just below a threshold is not shown as equal to the threshold.
    """
    if value is None:
        return number_format.NONE
    tenths = math.floor(value * 1000 + 1e-9)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
