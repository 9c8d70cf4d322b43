"""Changes of the facts that a benchmark asks for (docs/adr/0051)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import facts
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Benchmark, Leaderboard, User


@transaction.atomic
def change(*, benchmark: Benchmark, new_facts: Sequence[Mapping[str, str]], by: User) -> None:
    """Replace the facts that a benchmark asks for. What teams have stated stays stored, also of a removed fact.

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
