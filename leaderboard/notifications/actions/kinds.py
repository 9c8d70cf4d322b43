"""The kinds of notifications, declared once: the event, who is notified of it, and the text of the mail.

To add a kind, write a module with an event name, `write` and `words`, as `near_duplicates` and `rank_changes` are, and
add it to KINDS. `recipients` finds those who have no notice of the event yet; `deliver` sends the notices.
docs/api.md describes the JSON of each event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from leaderboard.models import Notice
from leaderboard.notifications.actions import (
    announcements,
    deadlines,
    finished_submissions,
    leakage,
    lost_ranks,
    near_duplicates,
    rank_changes,
    registrations,
)
from leaderboard.notifications.actions.recipients import Switch


@dataclass(frozen=True)
class Kind:
    """A kind of notification.

    event: its name, stored in each notice's body. label: what happened, for the list of deliveries. words: returns the
    subject and text of a notice's mail, without the footer. write: writes the notices of events after a time (its first
    argument; the second is the present time), and returns their number; None: they are written when the event happens.
    is_for: called before each delivery; returns False if the recipient may no longer know of the event. None: the
    recipient always may. switch: field of `User` that switches mails of this kind on.
    """

    event: str
    label: str
    words: Callable[[Notice], tuple[str, str]]
    write: Callable[[datetime, datetime], int] | None = None
    is_for: Callable[[Notice], bool] | None = None
    switch: Switch = "mailed_since"


KINDS = (
    Kind(finished_submissions.EVENT, "submission finished", finished_submissions.words, finished_submissions.write),
    Kind(
        near_duplicates.EVENT,
        "near-duplicates",
        near_duplicates.words,
        near_duplicates.write,
        near_duplicates.is_for,
    ),
    Kind(registrations.EVENT, "registration", registrations.words, registrations.write, registrations.is_for),
    Kind(leakage.EVENT, "leakage", leakage.words, leakage.write, leakage.is_for),
    Kind(rank_changes.EVENT, "rescored", rank_changes.words, rank_changes.write),
    Kind(lost_ranks.EVENT, "overtaken", lost_ranks.words, lost_ranks.write),
    Kind(announcements.EVENT, "announcement", announcements.words, switch="news_mailed_since"),
    Kind(deadlines.EVENT, "deadline", deadlines.words, deadlines.write, deadlines.is_for, "news_mailed_since"),
)
_BY_EVENT = {kind.event: kind for kind in KINDS}


def is_for(notice: Notice) -> bool:
    """Return True if the recipient may still know of the notice's event."""
    kind = _BY_EVENT.get(notice.body["event"])  # None: a test call of a webhook
    return kind is None or kind.is_for is None or kind.is_for(notice)


def label(notice: Notice) -> str:
    """Return the label of a notice's kind, for the list of deliveries; "test" for a test call of a webhook."""
    kind = _BY_EVENT.get(notice.body["event"])
    return kind.label if kind is not None else "test"


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about a notice, without the footer that all mails get."""
    return _BY_EVENT[notice.body["event"]].words(notice)


def events_of(switch: Switch) -> list[str]:
    """Return the names of the events whose mails a switch controls."""
    return [kind.event for kind in KINDS if kind.switch == switch]
