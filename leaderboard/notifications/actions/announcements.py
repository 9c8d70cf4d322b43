"""Mails of an announcement. Its notices are written when it is published: `benchmarks.actions.announcements`."""

from __future__ import annotations

from leaderboard.core.text.mail_text import quoted
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Notice

EVENT = "announcement"


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about an announcement, without the footer that all mails get.

    Line breaks are those of the organisers' text.
    """
    title, benchmark, page = (one_line(str(notice.body[name])) for name in ("title", "benchmark", "page"))
    body = "\n".join([title, "", quoted(str(notice.body["text"])), "", page, ""])
    return f"{benchmark}: {title}", body
