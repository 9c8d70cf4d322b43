"""Rehearsals: organisers and named testers try a phase before it opens, without any effect on the phase.

A rehearsal is a separate benchmark that is never public, with a copy of the phase on the same split. The submissions,
quotas and boards of the rehearsal belong to the copy, so nothing needs to be undone in the phase when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.boards.queries import board_state, reported_results
from leaderboard.core import row_locks, time_zones
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
from leaderboard.work_queue.lease import cancel_rows

MAX_TESTERS = 100
"""Maximum number of testers of one rehearsal, members of named teams included."""
NOT_COPIED = {
    *("id", "benchmark", "created_at", "ranked_sequence"),
    *("opens_at", "closes_at", "sealed_until", "unsealed_at"),
}
"""Fields of a phase that a rehearsal does not take over. For `scorer`, a copy of the scorer's row is made."""


def why_not(phase: Phase) -> str:
    """Return a sentence that says why a phase cannot be rehearsed; empty if it can be."""
    if phase.benchmark.is_rehearsal:
        return f"The phase {phase.title} belongs to a rehearsal, which cannot be rehearsed itself."
    if phase.benchmark.is_published and not phase.is_to_come():
        return f"The phase {phase.title} has opened; it can be rehearsed only before it opens."
    if phase.split.state == Split.State.RETIRED:
        return f"The split {phase.split.name} is retired."
    if board_state.gold_of(phase) is None or not phase.split.inputs:
        return f"The phase {phase.title} has no gold yet; upload it for {phase.split.name}."
    return ""


def find_testers(names: Sequence[str]) -> list[User]:
    """Return the active user with each name, or if there is none the members of the teams with that name.

    names: user names or team names. Raises Refused INVALID_VALUE for a name of no active user and no team with members,
    and for more than MAX_TESTERS users.
    """
    users: dict[int, User] = {}
    unknown = []
    for name in names:
        people = list(User.objects.filter(username=name, is_active=True))
        people = people or [user for team in Team.objects.filter(name=name) for user in team.members.all()]
        if not people:
            unknown.append(name)
        users |= {user.pk: user for user in people}
    if unknown:
        raise Refused(
            Code.INVALID_VALUE,
            f"No account or team has the name {', '.join(unknown[:10])}; expected usernames or team names.",
        )
    if len(users) > MAX_TESTERS:
        raise Refused(
            Code.INVALID_VALUE,
            f"These names stand for {len(users)} users, members of named teams included; "
            f"expected at most {MAX_TESTERS}.",
        )
    return list(users.values())


@transaction.atomic
def begin(*, phase: Phase, testers: Sequence[User], ends_at: datetime | None, by: User) -> Rehearsal:
    """Begin a rehearsal of a phase: a copy that is open to its organisers and to the testers.

    ends_at: until then the copy accepts submissions and testers can see it. None: until the phase itself opens or `end`
    is called. A sealed phase needs a date, at which its copy is unsealed. Raises Refused: NOT_AN_ORGANISER; NOT_READY
    if the phase cannot be rehearsed; ALREADY_EXISTS if it has a rehearsal; INVALID_VALUE if `ends_at` is missing for a
    sealed phase, is past, or is after the phase's opening.
    """
    check_manages(phase.benchmark, by)
    locked = row_locks.lock_phase(phase.pk, "benchmark", "split")
    if reason := why_not(locked):
        raise Refused(Code.NOT_READY, reason, heading="The rehearsal was not started")
    at = timezone.now()
    ends_at = _checked_end(locked, ends_at, at)
    sweep()
    copy = _copy_benchmark(locked, by)
    _copy_phase(locked, copy, ends_at)
    try:
        with transaction.atomic():
            rehearsal = Rehearsal.objects.create(benchmark=copy, phase=locked, begun_by=by, begun_at=at)
    except IntegrityError:
        raise Refused(
            Code.ALREADY_EXISTS,
            f"The phase {locked.title} already has a rehearsal; end that rehearsal first.",
            heading="The rehearsal was not started",
        ) from None
    rehearsal.testers.set(testers)
    details = {"benchmark": copy.slug, "testers": sorted(tester.username for tester in testers)}
    AuditEntry.record("rehearsal.begun", locked, by=by, **details)
    return rehearsal


@transaction.atomic
def set_testers(*, rehearsal: Rehearsal, testers: Sequence[User], by: User) -> None:
    """Replace the testers of a rehearsal; submissions of former testers stay.

    Raises Refused: NOT_AN_ORGANISER, NOT_POSSIBLE if the rehearsal is over.
    """
    check_manages(rehearsal.phase.benchmark, by)
    if rehearsal.is_over:
        raise Refused(
            Code.NOT_POSSIBLE, "This rehearsal is over; start another one instead.", heading="Nothing was changed"
        )
    rehearsal.testers.set(testers)
    AuditEntry.record(
        "rehearsal.testers", rehearsal.phase, by=by, testers=sorted(tester.username for tester in testers)
    )


@transaction.atomic
def end(*, rehearsal: Rehearsal, by: User) -> Rehearsal:
    """End a rehearsal: it accepts no more submissions, and its queued work is cancelled. Managers can still read it.

    Raises Refused: NOT_AN_ORGANISER, NOT_POSSIBLE if the rehearsal is already over.
    """
    check_manages(rehearsal.phase.benchmark, by)
    at = timezone.now()
    open_rehearsal = Rehearsal.objects.filter(pk=rehearsal.pk, ended_at=None)
    if rehearsal.is_over or not open_rehearsal.update(ended_at=at, ended_by=by):
        raise Refused(
            Code.NOT_POSSIBLE, "This rehearsal is over; start another one instead.", heading="Nothing was changed"
        )
    rehearsal.refresh_from_db()
    phases = row_locks.lock_phases(Phase.objects.filter(benchmark=rehearsal.benchmark))
    for phase in phases:
        if phase.closes_at is None or phase.closes_at > at:
            phase.closes_at = at
            phase.save(update_fields=["closes_at"])
    cancel_rows(Run.objects.filter(prediction__submission__phase__in=phases, state=State.QUEUED), Reason.WITHDRAWN)
    cancel_rows(Prediction.objects.filter(submission__phase__in=phases, state=State.QUEUED), Reason.WITHDRAWN)
    details = {"benchmark": rehearsal.benchmark.slug, "submissions": _n_submissions(rehearsal)}
    AuditEntry.record("rehearsal.ended", rehearsal.phase, by=by, **details)
    return rehearsal


@transaction.atomic
def sweep() -> int:
    """Record the end of each rehearsal whose deadline has passed; return the number of these rehearsals.

    Their queued work still runs.
    """
    ongoing = Benchmark.objects.ongoing_rehearsals().values("pk")
    due = Rehearsal.objects.filter(ended_at=None).exclude(benchmark__in=ongoing).select_related("benchmark", "phase")
    count = 0
    for rehearsal in due.select_for_update(of=("self",)):
        # Not the present time: the sweep may run long after the deadline, at which a sealed copy is unsealed.
        Rehearsal.objects.filter(pk=rehearsal.pk).update(
            ended_at=rehearsal.last_deadline, ended_by=rehearsal.begun_by_id
        )
        AuditEntry.record(
            "rehearsal.ended",
            rehearsal.phase,
            benchmark=rehearsal.benchmark.slug,
            submissions=_n_submissions(rehearsal),
        )
        count += 1
    return count


def _n_submissions(rehearsal: Rehearsal) -> int:
    return Submission.objects.filter(phase__benchmark=rehearsal.benchmark).count()


def _checked_end(phase: Phase, ends_at: datetime | None, at: datetime) -> datetime | None:
    """Return when a rehearsal ends: `ends_at`, or the opening of the phase if that is None.

    Returns None if the phase has no opening date either. Raises Refused INVALID_VALUE, as `begin` does.
    """
    check_moments(ends_at=ends_at)
    if ends_at is not None and ends_at <= at:
        ends = time_zones.describe(ends_at, phase.time_zone)
        raise Refused(
            Code.INVALID_VALUE, f"The end of the rehearsal, {ends}, is in the past; expected a time in the future."
        )
    if phase.disclosure == Phase.Disclosure.SEALED and ends_at is None:
        raise Refused(
            Code.INVALID_VALUE,
            "The phase is sealed, and a rehearsal of it is unsealed when it ends; enter the end of the rehearsal.",
        )
    if ends_at is not None and phase.opens_at is not None and ends_at > phase.opens_at:
        opens = time_zones.describe(phase.opens_at, phase.time_zone)
        raise Refused(
            Code.INVALID_VALUE, f"The phase opens at {opens}; expected an end of the rehearsal no later than that."
        )
    return ends_at or phase.opens_at


def _copy_benchmark(phase: Phase, by: User) -> Benchmark:
    real = phase.benchmark
    count = Benchmark.objects.filter(rehearsal__phase=phase).count()
    names = (f"{real.slug[:50]}-{phase.slug[:14]}-rehearsal{f'-{n}' if n else ''}" for n in range(count, count + 1000))
    slug = next(name for name in names if not Benchmark.objects.filter(slug=name).exists())
    links = ("contact", "questions_url", "paper_url", "shown_organisers")
    conditions = ("facts", "teams_may_hide", "asks_agreement")
    copied = ("summary", "description", "rules", "task", "dataset", *links, *conditions)
    fields = {name: getattr(real, name) for name in copied}
    title = f"Rehearsal: {real.title}"[:200]
    copy = Benchmark.objects.create(slug=slug, title=title, state=Benchmark.State.REHEARSAL, **fields)
    copy.organisers.set({*real.organisers.all(), by})
    for row, _ in reported_results.valid_results(real):
        values = {field.attname: getattr(row, field.attname) for field in ReportedResult._meta.concrete_fields}
        ReportedResult.objects.create(**{**values, "id": None, "benchmark_id": copy.pk})
    return copy


def _copy_phase(phase: Phase, benchmark: Benchmark, ends_at: datetime | None) -> Phase:
    fields = {
        field.name: getattr(phase, field.name) for field in Phase._meta.concrete_fields if field.name not in NOT_COPIED
    }
    if phase.scorer is not None:
        scorer_fields = {
            field.name: getattr(phase.scorer, field.name)
            for field in Scorer._meta.concrete_fields
            if field.name != "id"
        }
        fields["scorer"] = Scorer.objects.create(**{**scorer_fields, "benchmark": benchmark})
    sealed = phase.disclosure == Phase.Disclosure.SEALED
    dates = {"closes_at": ends_at, "sealed_until": ends_at if sealed else None}
    return Phase.objects.create(**{**fields, **dates, "benchmark": benchmark})
