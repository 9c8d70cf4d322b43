"""Notices to teams that other teams' systems have overtaken theirs on a board.

A notice contains only the ranks that the board shows to everybody. Only boards that reveal all scores cause notices, so
ladders do not. The sweep compares each changed board with its ranks at the previous comparison (`RankSnapshot`).
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from leaderboard.boards.disclosure.policies import reveals_all
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark, Leaderboard, Notice, RankSnapshot, System, Team
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "rank.lost"
QUIET = timedelta(days=1)
"""Time after a board's notices in which no more are written. Ranks lost meanwhile are in those that follow."""
_LOSSES = uuid.UUID("b0c2f6e4-2d5c-5d43-9d0b-6f6f1f8e7a90")
"""UUID namespace of the ids of (board, revision, team)."""


class Ranked(NamedTuple):
    """A system's rank, and the release that represents it."""

    rank: int
    release: int


def write(since: datetime, at: datetime) -> int:
    """Queue notices of ranks lost to other teams' systems since each board's snapshot; return their number.

    since: not used; other kinds of notifications need it. at: the present time.
    """
    return sum(_look_at(board, at) for board in _changed(at) if reveals_all(board.phase))


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about lost ranks, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items() if name != "systems"}
    systems = notice.body["systems"]
    first = systems[0]
    others = f" and {len(systems) - 1} more of your systems were" if len(systems) > 1 else " was"
    subject = (
        f"{one_line(first['system'])}{others} overtaken on {fields['benchmark_title']}, {fields['phase_title']}"
        + (f": rank {first['rank']} (before: {first['rank_before']})" if len(systems) == 1 else "")
    )
    lines = [f"{one_line(row['system'])}: rank {row['rank']} (before: {row['rank_before']})" for row in systems]
    return subject, "\n".join([*lines, "", fields["page"], ""])


def _changed(at: datetime) -> QuerySet[Leaderboard]:
    boards = Leaderboard.objects.filter(
        state=Leaderboard.State.CURRENT, phase__benchmark__state=Benchmark.State.PUBLIC, revision__gt=0
    )
    boards = boards.exclude(rank_snapshot__revision=F("revision")).exclude(rank_snapshot__notified_at__gt=at - QUIET)
    return boards.select_related("phase__benchmark", "rank_snapshot").order_by("pk")


@transaction.atomic
def _look_at(board: Leaderboard, at: datetime) -> int:
    """Compare a board's ranks with those of its snapshot, write notices of lost ranks, and replace the snapshot.

    Returns the number of notices written.
    """
    snapshot: RankSnapshot | None = getattr(board, "rank_snapshot", None)
    rows = board.standings.exclude(rank=None).values_list("system", "rank", "release", "system__team")
    now: dict[int, Ranked] = {}
    teams: dict[int, int] = {}
    for system, rank, release, team in rows:
        assert rank is not None, "excluded by the query"
        now[system], teams[system] = Ranked(rank, release), team
    before = {int(system): Ranked(*row) for system, row in snapshot.rows.items()} if snapshot else {}
    written = recipients.queue(_notices(board, lost(now, before, teams), now, before, at))
    RankSnapshot.objects.update_or_create(
        leaderboard=board,
        defaults={
            "revision": board.revision,
            "rows": now,
            "notified_at": at if written else (snapshot.notified_at if snapshot else None),
        },
    )
    return written


def lost(now: dict[int, Ranked], before: dict[int, Ranked], teams: dict[int, int]) -> dict[int, list[int]]:
    """Return {team: its systems that another team's new result has overtaken}, as ids, the best ranked system first.

    now, before: {system id: rank and release}. teams: {system id: team id}.
    """
    moved = [system for system, row in now.items() if system not in before or before[system].release != row.release]
    systems: defaultdict[int, list[int]] = defaultdict(list)
    for system in sorted(now, key=lambda key: now[key].rank):
        if system not in before or now[system].rank <= before[system].rank:
            continue
        if any(
            teams[other] != teams[system]
            and now[other].rank < now[system].rank
            and (other not in before or before[other].rank >= before[system].rank)
            for other in moved
        ):
            systems[teams[system]].append(system)
    return dict(systems)


def _notices(
    board: Leaderboard,
    overtaken: dict[int, list[int]],
    now: dict[int, Ranked],
    before: dict[int, Ranked],
    at: datetime,
) -> list[Notice]:
    teams = Team.objects.filter(pk__in=overtaken).prefetch_related("members__webhooks")
    names = dict(System.objects.filter(team__in=overtaken).values_list("pk", "name"))
    team_of = {uuid.uuid5(_LOSSES, f"{board.pk}:{board.revision}:{team.pk}"): team for team in teams}
    events = [Event(subject, team.members.all(), at) for subject, team in team_of.items()]
    notices = []
    for recipient in recipients.unnotified(events):
        team = team_of[recipient.subject]
        systems = [
            {"system": names[system], "rank": now[system].rank, "rank_before": before[system].rank}
            for system in overtaken[team.pk]
        ]
        notices.append(recipient.notice(_body(board, team, systems, at), at))
    return notices


def _body(board: Leaderboard, team: Team, systems: list[dict[str, Any]], at: datetime) -> dict[str, Any]:
    phase = board.phase
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": phase.benchmark.slug,
        "benchmark_title": phase.benchmark.title,
        "phase": phase.slug,
        "phase_title": phase.title,
        "team": team.name,
        "systems": systems,
        "page": settings.BASE_URL + phase.get_absolute_url(),
    }
