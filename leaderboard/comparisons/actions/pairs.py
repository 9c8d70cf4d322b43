"""Comparison of pairs of runs in the sandbox, one batch of pairs per job, and validation of the reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from evaluator.jobs.compare import CompareBoardReport
from evaluator.measures.base import Measure
from evaluator.statistics.permuted_differences import is_function_of_sums
from leaderboard.evaluation import provenance, sandbox_client, scorer_of_phase, stored_outcomes
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Comparison, Leaderboard, Reason, Run
from leaderboard.work_queue.work import NotRetryableError

Pair = tuple[UUID, UUID]
"""Ids of two runs, the smaller id first."""


class JobSize(NamedTuple):
    """Maximum size of a sandbox job that compares pairs: its pairs, and the runs whose outcomes it reads."""

    pairs: int
    runs: int


SMALL = JobSize(20, 16)
"""A job of this size finishes within the limits of scoring, even with the slowest measure on the largest gold."""
_LARGE = JobSize(sandbox_client.MAX_TABLES, sandbox_client.MAX_TABLES)
_MAX_UNITS = 500_000  # units of all runs of a job larger than SMALL: their outcomes take some hundred megabytes


def job_size(measure: Measure, n_units: int) -> JobSize:
    """Return the maximum size of a job that compares by a measure on a gold of `n_units` units.

    A measure that is a function of sums gets a large job: its pairs share the random permutations and a matrix product,
    which take most of the time. Other measures take longer for each pair and get SMALL.
    """
    if not is_function_of_sums(measure):
        return SMALL
    return _LARGE._replace(runs=max(SMALL.runs, min(_LARGE.runs, _MAX_UNITS // max(n_units, 1))))


def in_order(a: UUID, b: UUID) -> Pair:
    """Return two run ids in the order in which pairs are stored, the smaller id first."""
    return (a, b) if a < b else (b, a)


def batches(pairs: Iterable[Pair], size: JobSize) -> Iterator[list[Pair]]:
    """Yield batches of pairs, none larger than `size`, with each pair in one batch.

    Pairs with runs in common are batched together, so that there are few batches.
    """
    partners: dict[UUID, set[UUID]] = {}
    for a, b in sorted(pairs):
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    while partners:
        runs = sorted(_dense_runs(partners, size.runs))
        chosen = [(a, b) for a in runs for b in runs if a < b and b in partners[a]]
        for a, b in chosen:
            partners[a].discard(b)
            partners[b].discard(a)
        partners = {run: others for run, others in partners.items() if others}
        for start in range(0, len(chosen), size.pairs):
            yield chosen[start : start + size.pairs]


def _dense_runs(partners: dict[UUID, set[UUID]], most: int) -> set[UUID]:
    """Return at most `most` runs, chosen so that many pairs are left to compare among them.

    partners: for each run, the runs with which it is still to be compared. The choice is greedy: the next run is the
    one that has the most pairs with the runs chosen so far.
    """
    chosen: set[UUID] = set()
    while len(chosen) < min(most, len(partners)):
        chosen.add(
            max(partners.keys() - chosen, key=lambda run: (len(partners[run] & chosen), len(partners[run]), -run.int))
        )
    return chosen


def compared(*, board: Leaderboard, runs: dict[UUID, Run], pairs: Sequence[Pair], measure: str) -> list[Comparison]:
    """Compare pairs of runs by a measure in the sandbox; return unsaved `Comparison` rows, in the order of `pairs`.

    runs: by id, at least those of the pairs. Raises NotRetryableError if the job was refused or failed, ReportError if
    its report is invalid, SandboxError if the sandbox itself failed, and FileNotFoundError or AlteredError if the
    stored outcomes of a run are missing or were altered.
    """
    indices = {run: index for index, run in enumerate(sorted({run for pair in pairs for run in pair}))}
    index_pairs = [(indices[a], indices[b]) for a, b in pairs]
    seed = provenance.seed_of(board.gold_version)
    with ExitStack() as stack:
        files = {str(index): stack.enter_context(stored_outcomes.opened(runs[run])) for run, index in indices.items()}
        scorer = sandbox_client.declaration_of(scorer_of_phase.of_board(board).scorer)
        answer = sandbox_client.compare_board(files, pairs=index_pairs, measure=measure, seed=seed, scorer=scorer)
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.INTERNAL)
    report = _checked(answer.read(CompareBoardReport), index_pairs, pairs)
    return [
        Comparison(
            leaderboard=board,
            a_id=a,
            b_id=b,
            measure=measure,
            n_groups=report.n_groups,
            resamples=settings.RESAMPLES,
            seed=seed,
            **{name: getattr(row, name) for name in ("difference", "low", "high", "p", "n_permutations")},
        )
        for (a, b), row in zip(pairs, report.comparisons, strict=True)
    ]


def _checked(
    report: CompareBoardReport, index_pairs: Sequence[tuple[int, int]], pairs: Sequence[Pair]
) -> CompareBoardReport:
    """Return the report; raise ReportError if its pairs are not those requested, or if its numbers are inconsistent.

    index_pairs: the requested pairs as the report numbers them; pairs: the same pairs as ids of runs.
    """
    if [(row.a, row.b) for row in report.comparisons] != list(index_pairs):
        found = f"the report has {len(report.comparisons)} pairs"
        raise ReportError(f"{found}, expected the {len(index_pairs)} requested ones in the same order")
    for row, (a, b) in zip(report.comparisons, pairs, strict=True):
        numbers = [number for number in (row.difference, row.low, row.high, row.p) if number is not None]
        if not all(math.isfinite(number) for number in numbers):
            raise ReportError(f"the comparison of runs {a} and {b} has the numbers {numbers}; expected finite ones")
        if (row.difference is None) != (row.p is None) or (row.p is not None and not 0 < row.p <= 1):
            raise ReportError(
                f"the comparison of runs {a} and {b} has the difference {row.difference} and the p-value "
                f"{row.p}; expected both or neither, and a p-value in (0, 1]"
            )
        if (row.low is None) != (row.high is None) or (
            row.low is not None and row.high is not None and row.low > row.high
        ):
            raise ReportError(
                f"the comparison of runs {a} and {b} has the interval {row.low} to {row.high}; "
                "expected low <= high, or neither"
            )
    return report
