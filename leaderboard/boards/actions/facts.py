"""Changes of the facts that a benchmark asks for, and of those that a system states (docs/adr/0051)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import facts
from leaderboard.boards.queries.facts import Value
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Benchmark, Leaderboard, System, User


@transaction.atomic
def change(*, benchmark: Benchmark, new_facts: Sequence[Mapping[str, str]], by: User) -> None:
    """Replace the facts that a benchmark asks for. Values that teams have stated stay stored, also of removed facts.

    Raises ValueError for facts that are not valid.
    """
    check_manages(benchmark, by)
    locked = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    before = [fact.name for fact in facts.of(locked)]
    locked.facts = facts.validated(new_facts)
    locked.save(update_fields=["facts"])
    boards.revise(Leaderboard.objects.filter(phase__benchmark=locked))
    after = [fact.name for fact in facts.of(locked)]
    AuditEntry.record("benchmark.facts_changed", locked, by=by, before=before, after=after)


def state(*, system: System, stated: Mapping[str, Value | None], by: User) -> None:
    """Store values of a system's facts by name: None removes a value, and facts without a new value keep theirs.

    Raises Refused NOT_A_MEMBER unless `by` is a member of the system's team.
    """
    if stated:  # most submissions state none, and a transaction is not free
        _store(system, stated, by)


@transaction.atomic
def _store(system: System, stated: Mapping[str, Value | None], by: User) -> None:
    if not system.team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "Only members of the system's team may do this.")
    locked = System.objects.select_for_update(of=("self",), no_key=True).get(pk=system.pk)
    new = {name: value for name, value in {**locked.facts, **stated}.items() if value is not None}
    if new == locked.facts:
        return
    locked.facts = new
    locked.save(update_fields=["facts"])
    boards.revise(Leaderboard.objects.filter(standings__system=locked))
    AuditEntry.record("system.described", locked, by=by)
