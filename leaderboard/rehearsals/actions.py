"""Rehearsals: a phase is gone through before it opens, by its organisers and whom they name, and nothing of it counts.

A rehearsal is a benchmark of its own, in a state that is never public, with a copy of the phase on the same split. So
its submissions, charges, boards and ladder are not the phase's, and there is nothing to be taken back when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.boards.queries import board_state, reported_results
from leaderboard.core import time_zones
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.validation import check_moments
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Phase,
    Prediction,
    Reason,
    Rehearsal,
    ReportedResult,
    Run,
    Scorer,
    Split,
    State,
    Submission,
    Team,
    User,
)

MOST_TESTERS = 100
NOT_COPIED = {"id", "benchmark", "opens_at", "closes_at", "sealed_until", "unsealed_at", "arrivals", "created_at"}
"""Of a phase; and its scorer is copied by itself."""


def why_not(phase: Phase) -> str:
    """What is in the way of a rehearsal; empty: nothing."""
    if phase.benchmark.is_rehearsal:
        return "This is a rehearsal already."
    if phase.benchmark.state == Benchmark.State.PUBLIC and not phase.is_to_come():
        return f"The phase {phase.title} has opened; a phase is rehearsed before that."
    if phase.split.state == Split.State.RETIRED:
        return f"The split {phase.split.name} is retired."
    if board_state.gold_of(phase) is None or not phase.split.inputs:
        return f"The phase {phase.title} has no gold yet; upload it for {phase.split.name}."
    return ""


def testers_named(names: Sequence[str]) -> list[User]:
    """The accounts of some usernames, and the members of teams that are named so; raises Refused INVALID_NAME."""
    found: dict[int, User] = {}
    unknown = []
    for name in names:
        people = list(User.objects.filter(username=name, is_active=True))
        people = people or [one for team in Team.objects.filter(name=name) for one in team.members.all()]
        if not people:
            unknown.append(name)
        found |= {one.pk: one for one in people}
    if unknown:
        raise Refused(Code.INVALID_NAME, f"There is no account and no team {', '.join(unknown[:10])}.")
    if len(found) > MOST_TESTERS:
        raise Refused(Code.INVALID_NAME, f"{len(found)} people are named; expected at most {MOST_TESTERS}.")
    return list(found.values())


@transaction.atomic
def begin(*, phase: Phase, testers: Sequence[User], ends_at: datetime | None, by: User) -> Rehearsal:
    """Open a copy of a phase to its organisers and testers. ends_at: until when it takes something, and testers see it;
    of a sealed phase also when it is opened, so that it needs one.

    Raises Refused: NOT_READY with what is in the way, INVALID_NAME for the date, NOT_AN_ORGANISER.
    """
    check_manages(phase.benchmark, by)
    held = Phase.objects.select_for_update(of=("self",)).select_related("benchmark", "split").get(pk=phase.pk)
    if reason := why_not(held):
        raise Refused(Code.NOT_READY, reason, heading="The rehearsal was not begun")
    at = timezone.now()
    ends_at = _end(held, ends_at, at)
    sweep()
    copied = _benchmark(held, by)
    _phase(held, copied, ends_at)
    try:
        with transaction.atomic():
            made = Rehearsal.objects.create(benchmark=copied, phase=held, begun_by=by, begun_at=at)
    except IntegrityError:
        raise Refused(
            Code.NOT_READY,
            f"The phase {held.title} is being rehearsed already; end that first.",
            heading="The rehearsal was not begun",
        ) from None
    made.testers.set(testers)
    told = {"benchmark": copied.slug, "testers": sorted(one.username for one in testers)}
    AuditEntry.record("rehearsal.begun", held, by=by, **told)
    return made


@transaction.atomic
def name_testers(*, rehearsal: Rehearsal, testers: Sequence[User], by: User) -> None:
    """Have these test it and nobody else; what others have sent stays. Raises Refused: NOT_READY once it is over."""
    check_manages(rehearsal.phase.benchmark, by)
    if rehearsal.is_over:
        raise Refused(Code.NOT_READY, "This rehearsal is over.", heading="Nothing was changed")
    rehearsal.testers.set(testers)
    AuditEntry.record("rehearsal.testers", rehearsal.phase, by=by, testers=sorted(one.username for one in testers))


@transaction.atomic
def end(*, rehearsal: Rehearsal, by: User) -> Rehearsal:
    """End it for good: it takes nothing more, what waits is not scored, and all of it stays to be read by its managers.

    Raises Refused: NOT_READY where it is over, NOT_AN_ORGANISER.
    """
    check_manages(rehearsal.phase.benchmark, by)
    at = timezone.now()
    mine = Rehearsal.objects.filter(pk=rehearsal.pk, ended_at=None)
    if rehearsal.is_over or not mine.update(ended_at=at, ended_by=by):
        raise Refused(Code.NOT_READY, "This rehearsal is over.", heading="Nothing was changed")
    rehearsal.refresh_from_db()
    phases = Phase.objects.select_for_update().filter(benchmark=rehearsal.benchmark)
    for phase in phases:
        if phase.closes_at is None or phase.closes_at > at:
            phase.closes_at = at
            phase.save(update_fields=["closes_at"])
    sent = {"submission__phase__in": phases}
    ended: dict[str, Any] = {"state": State.CANCELLED, "reason": Reason.WITHDRAWN, "finished_at": at}
    runs = {f"prediction__{name}": value for name, value in sent.items()}
    Run.objects.filter(**runs, state=State.QUEUED).update(**ended)
    Prediction.objects.filter(**sent, state=State.QUEUED).update(**ended)
    told = {"benchmark": rehearsal.benchmark.slug, "submissions": _sent(rehearsal)}
    AuditEntry.record("rehearsal.ended", rehearsal.phase, by=by, **told)
    return rehearsal


@transaction.atomic
def sweep() -> int:
    """Write down the end of those whose date has come; how many. What they hold is scored and opened all the same."""
    going_on = Benchmark.objects.ongoing_rehearsals().values("pk")
    came = Rehearsal.objects.filter(ended_at=None).exclude(benchmark__in=going_on).select_related("benchmark", "phase")
    n = 0
    for one in came.select_for_update(of=("self",)):
        # Not the moment of this look: it may be long after, and what is sealed is opened at its date.
        Rehearsal.objects.filter(pk=one.pk).update(ended_at=one.last_deadline, ended_by=one.begun_by_id)
        AuditEntry.record("rehearsal.ended", one.phase, benchmark=one.benchmark.slug, submissions=_sent(one))
        n += 1
    return n


def _sent(rehearsal: Rehearsal) -> int:
    return Submission.objects.filter(phase__benchmark=rehearsal.benchmark).count()


def _end(phase: Phase, asked: datetime | None, at: datetime) -> datetime | None:
    """Not after the phase itself opens."""
    check_moments(ends_at=asked)
    if asked is not None and asked <= at:
        raise Refused(Code.INVALID_NAME, "The rehearsal would end before it begins; expected a later date.")
    if phase.disclosure == Phase.Disclosure.SEALED and asked is None:
        raise Refused(Code.INVALID_NAME, "A sealed phase is opened at a date; say when, in the rehearsal.")
    if asked is not None and phase.opens_at is not None and asked > phase.opens_at:
        opens = time_zones.in_words(phase.opens_at, phase.time_zone)
        raise Refused(Code.INVALID_NAME, f"The phase itself opens at {opens}; expected an end before that.")
    return asked or phase.opens_at


def _benchmark(phase: Phase, by: User) -> Benchmark:
    real = phase.benchmark
    there = Benchmark.objects.filter(rehearsal__phase=phase).count()
    names = (f"{real.slug[:50]}-{phase.slug[:14]}-rehearsal{f'-{n}' if n else ''}" for n in range(there, there + 1000))
    slug = next(name for name in names if not Benchmark.objects.filter(slug=name).exists())
    texts = {name: getattr(real, name) for name in ("summary", "description", "rules", "task", "dataset", "contact")}
    title = f"Rehearsal: {real.title}"[:200]
    made = Benchmark.objects.create(slug=slug, title=title, state=Benchmark.State.REHEARSAL, **texts)
    made.organisers.set({*real.organisers.all(), by})
    for row, _ in reported_results.sound(real):
        fields = {one.attname: getattr(row, one.attname) for one in ReportedResult._meta.concrete_fields}
        ReportedResult.objects.create(**{**fields, "id": None, "benchmark_id": made.pk})
    return made


def _phase(phase: Phase, benchmark: Benchmark, ends_at: datetime | None) -> Phase:
    fields = {one.name: getattr(phase, one.name) for one in Phase._meta.concrete_fields if one.name not in NOT_COPIED}
    if phase.scorer is not None:
        own = {one.name: getattr(phase.scorer, one.name) for one in Scorer._meta.concrete_fields if one.name != "id"}
        fields["scorer"] = Scorer.objects.create(**{**own, "benchmark": benchmark})
    sealed = phase.disclosure == Phase.Disclosure.SEALED
    dates = {"closes_at": ends_at, "sealed_until": ends_at if sealed else None}
    return Phase.objects.create(**{**fields, **dates, "benchmark": benchmark})
