"""Template filters that render the rows of an interval plot; a page has dozens of rows, each of a dozen shapes."""

from __future__ import annotations

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString

from leaderboard.boards.web.charts.intervals import IntervalPlot, Strip
from leaderboard.boards.web.tables.number_format import in_words, shown_value

register = template.Library()
HEIGHT = 26
LINE = '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>'


@register.filter
def behind(plot: IntervalPlot) -> SafeString:
    """Render the SVG background of all rows: the grid, and a band for the interval of the first-ranked system."""
    band = ""
    if plot.leader:
        band = f'<rect class="band" x="{plot.leader[0]}" y="0" width="{plot.leader[1]}" height="{HEIGHT}"/>'
    lines = (LINE.format("grid", x, x, 0, HEIGHT) for x, _ in plot.scale.ticks)
    return SafeString(band + "".join(lines))


@register.filter
def strip_row(strip: Strip, backdrop: SafeString) -> SafeString:
    """Render one system's row: its name, its point with interval over the background from `behind`, and its value."""
    name, shown = escape(strip.row.system), strip.score
    ends = ""
    if shown.low is not None:
        ends = "".join(LINE.format("whisker", x, x, 9, 17) for x in (strip.low, strip.high))
    if shown.bounds is not None:
        marks = LINE.format("bar bounds", strip.low, strip.high, 13, 13)
    else:
        marks = (
            f"{LINE.format('whisker', strip.low, strip.high, 13, 13)}{ends}"
            f'<circle class="point" cx="{strip.point}" cy="13" r="4.5"/>'
        )
    return SafeString(
        f'<li class="strip{"" if strip.row.competes else " strip-apart"}">'
        f'<span class="strip-name" dir="auto" title="{name}">{name}</span>\n'
        f'<svg class="strip-plot" width="100%" height="{HEIGHT}" role="img" aria-label="{in_words(shown)}">'
        f"{backdrop}{marks}</svg>\n"
        f'<span class="strip-value num">{shown_value(shown)}</span></li>\n'
    )
