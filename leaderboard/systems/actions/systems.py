"""Actions on systems: describe, make anonymous, disqualify, reinstate, and choose the representing submission.

The representing submission is the one whose score a board shows for the system.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure.policies import lets_choose
from leaderboard.boards.queries.facts import Value
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.core import row_locks, validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import (
    AuditEntry,
    Disqualification,
    Leaderboard,
    Phase,
    Representative,
    Submission,
    System,
    User,
)

LONGEST_BIBTEX = 10_000
"""Maximum length of a system's BibTeX, in characters."""
MAX_ANONYMITY = timedelta(days=3 * 365)
"""Maximum time for which a system may be made anonymous, so that boards do not stay anonymous forever."""


@transaction.atomic
def describe(
    *,
    system: System,
    by: User,
    bibtex: str,
    anonymous_until: datetime | None,
    description: str = "",
    paper_url: str = "",
    code_url: str = "",
    facts: Mapping[str, Value | None] | None = None,
) -> System:
    """Replace a system's description, links, BibTeX and anonymity, as a member of its team.

    anonymous_until: time until which the public sees "Anonymous" with a fixed number instead of the names of system and
    team; None: the names are shown.
    facts: new values by the name of the fact; None removes a fact's value, and facts without a key keep theirs.
    Raises Refused: NOT_A_MEMBER; INVALID_VALUE for an invalid field, and for a changed `anonymous_until` that is in the
    past or more than MAX_ANONYMITY from now.
    """
    _check_member(system, by)
    system = System.objects.select_for_update(no_key=True).get(pk=system.pk)
    if len(bibtex) > LONGEST_BIBTEX:
        raise Refused(
            Code.INVALID_VALUE, f"The BibTeX has {len(bibtex):,} characters; expected at most {LONGEST_BIBTEX:,}."
        )
    before = system.anonymous_until
    if anonymous_until != before:
        _check_until(anonymous_until)
    system.bibtex, system.anonymous_until = bibtex, anonymous_until
    system.description, system.paper_url, system.code_url = description, paper_url, code_url
    system.facts = {name: value for name, value in {**system.facts, **(facts or {})}.items() if value is not None}
    if anonymous_until is not None and system.anonymous_number is None:
        system.anonymous_number = _next_number()
    validation.check(system)
    system.save()
    boards.revise(Leaderboard.objects.filter(standings__system=system))
    AuditEntry.record("system.described", system, by=by)
    if before != anonymous_until:
        until = anonymous_until.isoformat() if anonymous_until else None
        AuditEntry.record("system.anonymous", system, by=by, until=until)
    return system


@transaction.atomic
def represent(*, submission: Submission, by: User) -> None:
    """Let a submission represent its system on the phase's current board and on its boards in preparation.

    `by` must be a member of the system's team. Raises Refused: NOT_A_MEMBER; NOT_POSSIBLE on a ladder, where the best
    revealed score always represents a system, for a submission without revealed scores, and for a hidden submission.
    """
    _check_member(submission.system, by)
    phase = _locked_phase(submission.phase)
    if not lets_choose(phase):
        raise Refused(
            Code.NOT_POSSIBLE,
            "On a ladder, a system is always represented by its best revealed score.",
            heading="The submission was not chosen",
        )
    if not submission.releases.exists():
        raise Refused(
            Code.NOT_READY,
            "This submission has no revealed scores yet; choose one that has scores.",
            heading="The submission was not chosen",
        )
    if submission.hidings.now().exists():
        raise Refused(
            Code.NOT_POSSIBLE,
            "This submission is hidden from the boards; choose another, or put it back first.",
            heading="The submission was not chosen",
        )
    Representative.objects.update_or_create(
        phase=phase,
        system=submission.system,
        defaults={"submission": submission, "chosen_by": by, "chosen_at": timezone.now()},
    )
    AuditEntry.record("system.represented", submission.system, by=by, submission=str(submission.pk))
    _update_standings(phase, submission.system)


@transaction.atomic
def represent_by_best(*, phase: Phase, system: System, by: User) -> None:
    """Remove a team's choice of the submission that represents its system, so that the best submission does so again.

    by: a member of the team. Does nothing if the team has chosen none in this phase. Raises Refused NOT_A_MEMBER.
    """
    _check_member(system, by)
    phase = _locked_phase(phase)
    if not phase.representatives.filter(system=system).delete()[0]:
        return
    AuditEntry.record("system.represented", system, by=by, phase=str(phase.pk), submission=None)
    _update_standings(phase, system)


@transaction.atomic
def disqualify(*, phase: Phase, system: System, reason: str, by: User) -> None:
    """Take a system out of a phase's ranking, with a public reason; if it is disqualified already, replace the reason.

    The system keeps its row and its revealed scores on the board. Frozen boards do not change. Raises Refused:
    NOT_AN_ORGANISER, INVALID_REASON for a reason that is empty or longer than 300 characters, NOT_POSSIBLE for a system
    without submissions to the phase.
    """
    check_manages(phase.benchmark, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= 300:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to 300.")
    phase = _locked_phase(phase)
    if not phase.submissions.filter(system=system).exists():
        raise Refused(
            Code.NOT_POSSIBLE,
            "This system has no submissions to this phase.",
            heading="The system was not disqualified",
        )
    Disqualification.objects.update_or_create(
        phase=phase, system=system, defaults={"reason": reason, "created_by": by, "created_at": timezone.now()}
    )
    AuditEntry.record("system.disqualified", system, by=by, phase=phase.pk, reason=reason)
    _set_standing(phase, system, disqualified=reason, rank=None, rank_low=None, rank_high=None)


@transaction.atomic
def reinstate(*, phase: Phase, system: System, by: User) -> None:
    """Let a disqualified system compete again. Does nothing if it is not disqualified.

    Raises Refused NOT_AN_ORGANISER.
    """
    check_manages(phase.benchmark, by)
    phase = _locked_phase(phase)
    if not phase.disqualifications.filter(system=system).delete()[0]:
        return
    AuditEntry.record("system.reinstated", system, by=by, phase=phase.pk)
    _set_standing(phase, system, disqualified="")


def _check_until(until: datetime | None) -> None:
    now = timezone.now()
    if until is not None and not now < until <= now + MAX_ANONYMITY:
        latest = f"{now + MAX_ANONYMITY:%Y-%m-%d}"
        problem = f"The system cannot be anonymous until {until:%Y-%m-%d %H:%M} UTC"
        raise Refused(Code.INVALID_VALUE, f"{problem}; expected a time in the future, {latest} (UTC) at the latest.")


def _next_number() -> int:
    # The oldest system's row serves as a lock, so that two systems do not get the same number.
    System.objects.select_for_update(no_key=True).order_by("pk").first()
    return (System.objects.aggregate(last=Max("anonymous_number"))["last"] or 0) + 1


def _set_standing(phase: Phase, system: System, **values: Any) -> None:
    for board in _open_boards(phase):
        board.standings.filter(system=system).update(**values)
        rank_ranges.rank_again(board)


def _update_standings(phase: Phase, system: System) -> None:
    for board in _open_boards(phase):
        if boards.recompute_standing(board, system):
            rank_ranges.rank_again(board)


def _open_boards(phase: Phase) -> list[Leaderboard]:
    return list(phase.leaderboards.filter(state__in=Leaderboard.OPEN).select_related("gold_version"))


def _locked_phase(phase: Phase) -> Phase:
    """Lock the phase's row until the transaction ends, and return it. Publication on its boards takes the same lock."""
    return row_locks.lock_phase(phase.pk, "benchmark")


def _check_member(system: System, by: User) -> None:
    if not system.team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "Only members of the system's team may do this.")
