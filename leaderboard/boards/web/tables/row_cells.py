"""HTML of a board row's cells, written by functions, since a template would take ten times as long for hundreds of
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from html import escape  # Django's is lazy, which costs more than the escaping

from django.contrib.humanize.templatetags.humanize import ordinal
from django.urls import reverse
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from msgspec import structs

from leaderboard.boards.queries import Ranges, Row
from leaderboard.boards.web.tables.number_format import spent
from leaderboard.core import relative_dates

_KINDS = {"baseline": "baseline", "organiser": "organiser\N{RIGHT SINGLE QUOTATION MARK}s"}


def may_lead(row: Row, ranges: Ranges) -> bool:
    """Return True if the first rank is possible for a row: it has that rank, or a rank range that includes it.

    ranges: the state of the board's rank ranges, which are used only if they are READY.
    """
    return row.rank == 1 or (ranges == Ranges.READY and row.rank_low == 1)


def rank_html(row: Row, *, is_top: bool = False) -> SafeString:
    """Return HTML of the rank, marked with `=` if it is tied, or an en dash if there is no rank.

    is_top: mark the rank as one of a system that leads, or may lead.
    """
    if row.rank is None:
        label = '<span class="visually-hidden"> not ranked</span>'
        return SafeString(f'<span class="soft" title="not ranked">\N{EN DASH}{label}</span>')
    tie = '<abbr class="tie" title="shared with another system">=</abbr>' if row.tied else ""
    top = ' rank-top" title="leads, or may lead' if is_top else ""
    return SafeString(f'<span class="rank{top}">{row.rank:d}{tie}</span>')


def ranked_in_track(row: Row) -> SafeString:
    """Return HTML of the rank among the systems of the row's track."""
    return rank_html(structs.replace(row, rank=row.track_rank, tied=row.track_tied))


def rank_range_html(row: Row, ranges: Ranges) -> SafeString:
    """Return HTML of the rank range, which is shown below the rank; empty if it is one rank or is not computed."""
    if row.rank_low == row.rank_high or ranges != Ranges.READY:
        return SafeString("")
    low, high = f"{row.rank_low:d}", f"{row.rank_high:d}"
    title = f"could be {ordinal(low)} to {ordinal(high)}"
    shown = f'<span class="visually-hidden">could be </span>{low}\N{EN DASH}{high}'
    return SafeString(f'<span class="rank-range" title="{title}">{shown}</span>')


def system_html(row: Row) -> SafeString:
    """Return HTML of a system's name with its team, links, tags and warnings."""
    name = f'<span class="system-name" dir="auto">{escape(row.system)}</span>'
    link = f'<a class="system-link" href="{_system_url(row.system_id, row.board_id)}">{name}</a>'
    links = _chip(row.paper_url, "paper") + _chip(row.code_url, "code")
    name = f"<bdi>{escape(row.team)}</bdi>"
    linked = name if row.team_id is None else f'<a href="{_team_url(row.team_id)}">{name}</a>'
    team = f'<span class="system-team">{linked}{links}</span>'
    # Each part is escaped by the function that inserts it.
    return mark_safe("\n".join([link, *_tags(row), team, *_notes(row)]))  # noqa: S308


def _chip(url: str, label: str) -> str:
    return f' <a class="link-chip" href="{escape(url)}" rel="nofollow noopener">{label}</a>' if url else ""


def _tags(row: Row) -> list[SafeString]:
    tags = []
    if row.track_title:
        tags.append(format_html('<span class="tag" title="track"><bdi>{}</bdi></span>', row.track_title))
    if row.kind in _KINDS:
        tags.append(format_html('<span class="tag">{}</span>', _KINDS[row.kind]))
    if row.disqualified:
        tags.append(SafeString('<span class="tag tag-warn">disqualified</span>'))
    if row.anonymous_until and not row.is_hidden:
        until = f"{row.anonymous_until:%Y-%m-%d %H:%M}"
        tags.append(
            format_html(
                '<span class="tag" title="others see “Anonymous” until {} UTC">anonymous to others</span>', until
            )
        )
    return tags


def _notes(row: Row) -> list[SafeString]:
    notes = []
    if n := len(row.warnings):
        lines = SafeString("").join(format_html('<li dir="auto">{}</li>', warning) for warning in row.warnings)
        head = f'<summary><span aria-hidden="true">⚠</span> {n} warning{"s" if n > 1 else ""}</summary>'
        notes.append(SafeString(f'<details class="warned">{head}<ul>{conditional_escape(lines)}</ul></details>'))
    if row.disqualified:
        notes.append(format_html('<span class="system-team">Disqualified: <bdi>{}</bdi></span>', row.disqualified))
    return notes


def cost(cost_text: tuple[float | None, str]) -> SafeString:
    """Return the table cell of a (cost, reason) pair: the cost, or an en dash with the reason as its title."""
    value, reason = cost_text
    shown = f'<span class="nobody" title="{escape(reason)}">\N{EN DASH}</span>' if value is None else spent(value)
    return SafeString(f'<td class="num cost">{shown}</td>')


@lru_cache(maxsize=10_000)
def _system_url(system: int, board: int | None) -> str:
    """Return the URL of a system's page.

    board: primary key of the board whose scores the page shows; None: the page's default.
    """
    return reverse("system", args=[system]) + ("" if board is None else f"?board={board}")


@lru_cache(maxsize=10_000)
def _team_url(team: int) -> str:
    return reverse("team_page", args=[team])


def day(at: datetime) -> SafeString:
    """Return a `<time>` element such as `3 days ago`. It changes once a day, like the ETag of an unchanged board."""
    words = relative_dates.in_days(at, timezone.now())
    iso = at.isoformat()  # faster than a format
    return SafeString(f'<time datetime="{iso}" title="{iso[:10]} {iso[11:16]} UTC">{words}</time>')


CELLS: dict[str, Callable[[Row], SafeString]] = {
    "track_rank": ranked_in_track,
    "received_at": lambda row: day(row.received_at),
}
"""Cell markup by name of a row column (boards/queries/columns.py); columns that are not listed are plain text."""
