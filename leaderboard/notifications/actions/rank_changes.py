"""Notices to teams that a board with their systems was replaced, for example after a correction of gold.

A notice contains only what the two boards show publicly: on a ladder, values rounded to its steps. See docs/adr/0013
and docs/adr/0021.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark, Leaderboard, Notice, RankChange, Team
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event

EVENT = "board.replaced"
_SWITCHES = uuid.UUID("4f0f2c1e-51c5-5c6a-8f11-0f3b2b7a1d43")
"""UUID namespace of the ids of (new board, team). A unique constraint on `Notice` refuses a second one with an id."""


def write(since: datetime, at: datetime) -> int:
    """Queue notices of boards that replaced another after `since`, for the members of the teams on them.

    at: the present time. Returns the number of notices written.
    """
    notices = []
    for board in _switched(since):
        assert board.shown_from is not None, "_switched returned a board that was never shown"
        ranked = board.rank_changes.order_by().filter(system__team__members__isnull=False)
        subjects = {_subject(board, team): team for team in ranked.values_list("system__team", flat=True).distinct()}
        new = subjects.keys() - recipients.notified(subjects)
        if not new:
            continue
        teams = Team.objects.prefetch_related("members__webhooks").in_bulk([subjects[subject] for subject in new])
        changes: defaultdict[int, list[RankChange]] = defaultdict(list)
        stored = board.rank_changes.filter(system__team__in=teams)
        for change in stored.select_related("system", "replaced__gold_version"):
            changes[change.system.team_id].append(change)
        events, bodies = [], {}
        for subject in new:
            team = teams[subjects[subject]]
            events.append(Event(subject, team.members.all(), board.shown_from))
            bodies[subject] = _body(board, team, changes[team.pk], at)
        notices += [recipient.notice(bodies[recipient.subject], at) for recipient in recipients.unnotified(events)]
    return recipients.queue(notices)


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about a replaced board, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items() if name != "systems"}
    lines = [_line(system) for system in notice.body["systems"]]
    text = (
        f"The board of {fields['benchmark']}, phase {fields['phase']}, was rescored with gold version "
        f"{fields['gold_version']}, task version {fields['task_version']}. It replaces the board of gold "
        f"version {fields['replaced_gold_version']}, task version {fields['replaced_task_version']}.\n\n"
        + (f"Reason: {fields['reason']}\n\n" if fields["reason"] else "")
        + "\n".join(lines)
        + f"\n\n{fields['page']}\nPrevious board: {fields['replaced_page']}\n"
    )
    return f"{fields['benchmark']}, {fields['phase']}: rescored", text


def _switched(since: datetime) -> QuerySet[Leaderboard]:
    moved = Leaderboard.objects.filter(
        shown_from__gt=since, rank_changes__isnull=False, phase__benchmark__state=Benchmark.State.PUBLIC
    )
    return moved.select_related("phase__benchmark", "gold_version").distinct().order_by("shown_from")


def _subject(board: Leaderboard, team: int) -> uuid.UUID:
    """Return the subject of the notices about a board for the team with this primary key."""
    return uuid.uuid5(_SWITCHES, f"{board.pk}:{team}")


def _body(board: Leaderboard, team: Team, changes: Sequence[RankChange], at: datetime) -> dict[str, Any]:
    """Return the event's JSON. changes: those of the team's systems."""
    replaced, phase = changes[0].replaced, board.phase
    args, gold = [phase.benchmark.slug, phase.slug], board.gold_version
    is_corrected = replaced.gold_version_id != gold.pk
    versions = [replaced.gold_version.number, replaced.task_version]
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": phase.benchmark.slug,
        "phase": phase.slug,
        "team": team.name,
        "gold_version": gold.number,
        "task_version": board.task_version,
        "replaced_gold_version": versions[0],
        "replaced_task_version": versions[1],
        "reason": gold.reason if is_corrected else "",
        "systems": [_system(change) for change in changes],
        "page": settings.BASE_URL + reverse("leaderboard", args=args),
        "replaced_page": settings.BASE_URL + reverse("frozen_board", args=[*args, *versions]),
    }


def _system(change: RankChange) -> dict[str, Any]:
    names = ("measure", "rank_before", "rank", "value_before", "value")
    return {"system": change.system.name, **{name: getattr(change, name) for name in names}}


def _line(system: dict[str, Any]) -> str:
    name, measure = (one_line(str(system[key])) for key in ("system", "measure"))
    rank, value = (f"{_shown(system[f'{key}_before'])} -> {_shown(system[key])}" for key in ("rank", "value"))
    return f"{name}: rank {rank}, {measure} {value}"


def _shown(value: float | None) -> str:
    """Format an int (a rank) as it is, and a float (a score) with three decimals, as boards do; None as `none`."""
    return "none" if value is None else format(value, ".3f") if isinstance(value, float) else str(value)
