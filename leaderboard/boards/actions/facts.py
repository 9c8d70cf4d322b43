"""Changes to the facts that a benchmark asks for, and to the values that teams state (docs/adr/0051)."""

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
    """Replace the facts that a benchmark asks for; values that teams have stated stay stored, also for removed facts.

    new_facts: dicts {"name", "title", "kind"}, in the order of the pages. Raises Refused NOT_AN_ORGANISER; ValueError
    for facts that are not valid.
    """
    check_manages(benchmark, by)
    locked = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    before = [fact.name for fact in facts.of(locked)]
    locked.facts = facts.validated(new_facts)
    locked.save(update_fields=["facts"])
    boards.revise(Leaderboard.objects.filter(phase__benchmark=locked))
    after = [fact.name for fact in facts.of(locked)]
    AuditEntry.record("benchmark.facts_changed", locked, by=by, before=before, after=after)


@transaction.atomic
def state(*, system: System, stated: Mapping[str, Value | None], by: User) -> None:
    """Store values of a system's facts.

    stated: fact's name -> value; None removes the value, and facts that are not in it keep theirs. Raises Refused
    NOT_A_MEMBER unless `by` is a member of the system's team.
    """
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
