"""The main phase of a benchmark: the phase whose board its page and the home page show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.models import Leaderboard, Phase, Standing


def phases_of(benchmarks: Iterable[int]) -> QuerySet[Phase]:
    """Return the phases of benchmarks, with `has_results`: True if the phase's current board has a row.

    They are sorted by benchmark, and within a benchmark in the order in which its pages list them.
    """
    rows = Standing.objects.filter(leaderboard__phase=OuterRef("pk"), leaderboard__state=Leaderboard.State.CURRENT)
    phases = Phase.objects.filter(benchmark__in=benchmarks).select_related("benchmark__dataset", "split", "scorer")
    return phases.annotate(has_results=Exists(rows))


def main_phase(phases: Sequence[Phase]) -> Phase | None:
    """Return the main phase of a benchmark; None if it has no phase. phases: its phases, as `phases_of` returns them.

    It is the organisers' choice; else the last phase with results; else the last that is open for submissions; else the
    next to open; else the last. Within each of these groups, phases that are not sealed are preferred, and then phases
    on hidden gold.
    """
    chosen = [phase for phase in phases if phase.is_main]
    if chosen:
        return chosen[0]
    now = timezone.now()
    with_results = [phase for phase in phases if phase.has_results]  # type: ignore[attr-defined]
    is_open = [phase for phase in phases if phase.is_open(now)]
    next_opening = min((phase.opens_at for phase in phases if phase.opens_at and phase.opens_at > now), default=None)
    next_to_open = [phase for phase in phases if next_opening and phase.opens_at == next_opening]
    for candidates in (with_results, is_open, next_to_open, phases):
        unsealed = [phase for phase in candidates if phase.disclosure != Phase.Disclosure.SEALED] or candidates
        hidden = [phase for phase in unsealed if not phase.split.gold_public] or unsealed
        if hidden:
            return hidden[-1]
    return None
