"""Pairs of runs on their way through the sandbox: as many at once as one job takes, and its report checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from uuid import UUID

from django.conf import settings

from evaluator.jobs.compare import CompareBoardReport
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import provenance, sandbox_client, scorer_of_phase
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Comparison, Leaderboard, Reason, Run
from leaderboard.work_queue.work import NoAnswerError

Pair = tuple[UUID, UUID]
"""Two runs, the lesser id first."""

AT_ONCE = 20
"""Pairs of one job: few enough that the slowest measure ends within a scoring's time."""


def in_order(a: UUID, b: UUID) -> Pair:
    """A pair as it is stored."""
    return (a, b) if a < b else (b, a)


def batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """All of the pairs, in lists that concern at most `referee.MOST_TABLES` runs each, and in few such lists."""
    left: dict[UUID, set[UUID]] = {}
    for a, b in sorted(pairs):
        left.setdefault(a, set()).add(b)
        left.setdefault(b, set()).add(a)
    while left:
        together = sorted(_close(left))
        found = [(a, b) for a in together for b in together if a < b and b in left[a]]
        for a, b in found:
            left[a].discard(b)
            left[b].discard(a)
        left = {run: others for run, others in left.items() if others}
        for begin in range(0, len(found), AT_ONCE):
            yield found[begin : begin + AT_ONCE]


def _close(left: dict[UUID, set[UUID]]) -> set[UUID]:
    """Runs with many pairs among them: each next one is that with the most pairs with those before."""
    chosen: set[UUID] = set()
    while len(chosen) < min(sandbox_client.MOST_TABLES, len(left)):
        chosen.add(max(left.keys() - chosen, key=lambda run: (len(left[run] & chosen), len(left[run]), -run.int)))
    return chosen


def compared(*, board: Leaderboard, runs: dict[UUID, Run], pairs: Sequence[Pair], measure: str) -> list[Comparison]:
    """The pairs as rows that are not stored yet.

    Raises NoAnswerError, ReportError, SandboxError (ours), and FileNotFoundError or AlteredError for a stored file.
    """
    places = {run: place for place, run in enumerate(sorted({run for pair in pairs for run in pair}))}
    asked = [(places[a], places[b]) for a, b in pairs]
    with ExitStack() as stack:
        tables = []
        for run in places:
            tables.append(stack.enter_context(opened(runs[run].outcomes)))
            check_digest(tables[-1], runs[run].outcomes_sha256)
        scorer = scorer_of_phase.of_board(board).scorer
        answer = sandbox_client.compare_board(
            tables=tables, pairs=asked, measure=measure, seed=provenance.SEED, scorer=scorer
        )
    if not answer.ok:
        raise NoAnswerError(answer.reason or Reason.INTERNAL)
    report = _checked(answer.read(CompareBoardReport), asked)
    return [
        Comparison(
            leaderboard=board,
            a_id=a,
            b_id=b,
            measure=measure,
            n_groups=report.n_groups,
            resamples=settings.RESAMPLES,
            seed=provenance.SEED,
            **{name: getattr(row, name) for name in ("difference", "low", "high", "p", "draws")},
        )
        for (a, b), row in zip(pairs, report.comparisons, strict=True)
    ]


def _checked(report: CompareBoardReport, asked: Sequence[tuple[int, int]]) -> CompareBoardReport:
    """Raises ReportError for anything that a sound job cannot have said."""
    if [(row.a, row.b) for row in report.comparisons] != list(asked):
        raise ReportError("the report has other pairs than those asked for")
    for row in report.comparisons:
        numbers = [number for number in (row.difference, row.low, row.high, row.p) if number is not None]
        if not all(math.isfinite(number) for number in numbers):
            raise ReportError("a comparison is not finite")
        if (row.difference is None) != (row.p is None) or (row.p is not None and not 0 < row.p <= 1):
            raise ReportError("a comparison has a difference without a p, or a p outside (0, 1]")
        if (row.low is None) != (row.high is None) or (
            row.low is not None and row.high is not None and row.low > row.high
        ):
            raise ReportError("a comparison has an interval whose ends are not in order")
    return report
