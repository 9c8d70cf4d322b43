"""The main phase of a benchmark: the phase whose board its page and the home page show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.core.compiled_queries import PreparedQuery
from leaderboard.models import Leaderboard, Phase, Standing


def phases_of(benchmarks: Iterable[int]) -> QuerySet[Phase]:
    """Return the phases of benchmarks, with `has_results`: True if the phase's current board has a row.

    They are sorted by benchmark, and within a benchmark in the order in which its pages list them.
    """
    rows = Standing.objects.filter(leaderboard__phase=OuterRef("pk"), leaderboard__state=Leaderboard.State.CURRENT)
    phases = Phase.objects.filter(benchmark__in=benchmarks).select_related("benchmark__dataset", "split", "scorer")
    return phases.annotate(has_results=Exists(rows))


OF_A_BENCHMARK = PreparedQuery(lambda benchmark: phases_of([benchmark]), int)


def main_phase(phases: Sequence[Phase]) -> Phase | None:
    """Return the main phase of a benchmark; None if it has no phase. phases: its phases, as `phases_of` returns them.

    It is the organisers' choice; else the last phase with results; else the last that has opened and is not sealed;
    else the last that has opened; else the first. A phase on hidden gold is preferred at each step.
    """
    chosen = [phase for phase in phases if phase.is_main]
    if chosen:
        return chosen[0]
    now = timezone.now()
    with_results = [phase for phase in phases if phase.has_results]  # type: ignore[attr-defined]
    opened = [phase for phase in phases if not phase.is_to_come(now)]
    unsealed = [phase for phase in opened if phase.disclosure != Phase.Disclosure.SEALED]
    for candidates in (with_results, unsealed, opened):
        hidden = [phase for phase in candidates if not phase.split.gold_public]
        if candidates:
            return (hidden or candidates)[-1]
    return phases[0] if phases else None
