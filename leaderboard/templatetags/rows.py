"""Template filters for the cells of a board's row: functions of `leaderboard.boards.web.tables.row_cells`."""

from __future__ import annotations

from django import template

from leaderboard.boards.web.tables import row_cells

register = template.Library()

for _filter in (
    row_cells.rank_html,
    row_cells.ranked_in_track,
    row_cells.rank_range_html,
    row_cells.system_html,
    row_cells.cost,
    row_cells.day,
):
    register.filter(_filter)
