"""Template filters for numbers: functions of `leaderboard.boards.web.tables.number_format`, under the same names."""

from __future__ import annotations

from django import template

from leaderboard.boards.web.tables import number_format

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
