"""Mails of an announcement. Its notices are written when it is published: `benchmarks.actions.announcements`."""

from __future__ import annotations

from leaderboard.core.plain_text import one_line
from leaderboard.models import Notice

EVENT = "announcement"


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about an announcement, without the footer that all mails get.

    Line breaks are those of the organisers' text.
    """
    title, benchmark, page = (one_line(str(notice.body[name])) for name in ("title", "benchmark", "page"))
    lines = [one_line(line) for line in str(notice.body["text"]).splitlines()]
    body = "\n".join([title, "", *lines, "", page, ""])
    return f"{benchmark}: {title}", body
