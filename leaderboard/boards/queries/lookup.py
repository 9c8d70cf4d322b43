"""Lookups of benchmarks, phases, splits and boards by the names in a URL, for pages and the API.

Each lookup is limited to what the user may see or manage. Anything else raises Http404 after the same queries as a
name that does not exist, so that response times do not reveal which names exist. `user` None is the public.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from leaderboard.boards.queries.board import Board, Version, crossed_by
from leaderboard.boards.queries.paging import read_head
from leaderboard.boards.queries.reading import board_of, by_value
from leaderboard.boards.queries.request import MOST_ROWS, first_column
from leaderboard.core.refusal import NotFound
from leaderboard.models import Benchmark, Phase, Split


def _phases(**filters: Any) -> QuerySet[Phase]:
    return Phase.objects.select_related("benchmark__dataset", "split__dataset", "scorer").filter(**filters)


def benchmark_or_404(user: Any, slug: str) -> Benchmark:
    """Return a benchmark that the user may see, with its dataset."""
    return get_object_or_404(Benchmark.objects.visible_to(user).select_related("dataset", "teaser"), slug=slug)


def managed_or_404(user: Any, slug: str) -> Benchmark:
    """Return a benchmark that the user manages, with its dataset."""
    rows = Benchmark.objects.all() if user.is_curator else user.benchmarks.all()
    return get_object_or_404(rows.select_related("dataset"), slug=slug)


def phase_or_404(user: Any, slug: str, phase: str) -> Phase:
    """Return a phase of a benchmark that the user may see, with its benchmark, split, their dataset, and scorer."""
    named = _phases(benchmark__slug=slug, slug=phase)
    if (public := named.filter(benchmark__state=Benchmark.State.PUBLIC).first()) is not None:
        return public
    if user is None or not user.is_authenticated:
        raise Http404("no such phase")
    return get_object_or_404(named, benchmark__in=Benchmark.objects.visible_to(user).values("pk"))


def managed_phase_or_404(user: Any, slug: str, phase: str) -> Phase:
    """Return a phase of a benchmark that the user manages, with the same related rows as `phase_or_404`."""
    return get_object_or_404(_phases(benchmark=managed_or_404(user, slug)), slug=phase)


def split_or_404(user: Any, slug: str, name: str) -> Split:
    """Return a split of a benchmark's dataset, with the dataset. The user may see both the benchmark and the split."""
    shown = Benchmark.objects.visible_to(user).filter(slug=slug).values("dataset")
    return get_object_or_404(Split.objects.visible_to(user).select_related("dataset"), dataset__in=shown, name=name)


def managed_split_or_404(user: Any, slug: str, name: str) -> tuple[Benchmark, Split]:
    """Return (a benchmark that the user manages, the split of its dataset with this name)."""
    benchmark = managed_or_404(user, slug)
    return benchmark, get_object_or_404(benchmark.dataset.splits.select_related("dataset"), name=name)


def board_or_404(
    user: Any,
    slug: str,
    phase: str,
    *,
    within: Collection[str] | None = (),
    systems: Collection[int] = (),
    most: int | None = None,
    gold: int | None = None,
    task_version: int = 1,
) -> Board:
    """Return a board of a phase that the user may see: the current board, or that of a gold and task version.

    The board has its best `most` rows (None: MOST_ROWS), and those of `systems`, which are ids. gold: number of the
    gold version; None: the current board. within: dimensions whose slices are read in addition to the overall scores;
    None: all.
    Raises Http404, also for a version whose board was never public.
    """
    version, row = _version(gold, task_version), phase_or_404(user, slug, phase)
    most = MOST_ROWS if most is None else most
    board = board_of(row, within=within, version=version, viewer=user, most=most, systems=systems)
    return _shown(board, version)


def crossed_board_or_404(
    user: Any, slug: str, phase: str, pair: str, *, gold: int | None = None, task_version: int = 1
) -> Board:
    """Return the board that `board_or_404` returns, with its two-way slices.

    pair: the two dimensions, as `outer/inner`; a dimension may itself contain slashes. Raises Http404 as `board_or_404`
    does, and, before any row is read, unless the phase crosses these dimensions.
    """
    row, version = phase_or_404(user, slug, phase), _version(gold, task_version)
    crossed = crossed_by(row)
    if crossed is None or "/".join(crossed) != pair:
        expected = "/".join(crossed) if crossed else "none"
        raise Http404(f"this phase does not cross the dimensions {pair}; expected {expected}")
    return _shown(board_of(row, within=crossed, version=version, viewer=user, most=MOST_ROWS), version)


def cited_board_or_404(
    user: Any,
    slug: str,
    phase: str,
    systems: Collection[int] = (),
    *,
    gold: int | None = None,
    task_version: int = 1,
) -> Board:
    """Return the board that `board_or_404` returns, with all slices and public names: all viewers cite equal bytes.

    gold, task_version: as for `board_or_404`; gold None: the current board. Only a logged-in user gets the rows of a
    board of more than MOST_ROWS; otherwise it has only its best row, its best ranked row, and those of `systems` (ids).
    """
    version, row = _version(gold, task_version), phase_or_404(user, slug, phase)
    head = _shown(read_head(row, "", version), version)
    if head.leaderboard is None or getattr(user, "is_authenticated", False) or head.summary.n_rows <= MOST_ROWS:
        return board_of(row, version=version)
    ranked = head.leaderboard.standings.exclude(rank=None)
    first = by_value(ranked, 1, descending=first_column(head).best_first)
    systems = [*systems, *ranked.filter(pk__in=first).values_list("system", flat=True)]
    return board_of(row, version=version, most=1, systems=systems)


def head_or_404(
    user: Any, slug: str, phase: str, *, as_of: str = "", gold: int | None = None, task_version: int = 1
) -> Board:
    """Return the board that `board_or_404` returns, but without its rows, which `page_of` then reads.

    as_of: a day as YYYY-MM-DD, for the board at the end of that day in UTC; empty: now. Raises InvalidQuery if it is
    not a valid day.
    """
    version = _version(gold, task_version)
    return _shown(read_head(phase_or_404(user, slug, phase), as_of, version), version)


def dimension_or_404(board: Board, dimension: str) -> str:
    if dimension not in board.dimensions:
        raise Http404(f"this board has no dimension {dimension!r}; expected one of {', '.join(board.dimensions)}")
    return dimension


def _version(gold: int | None, task_version: int) -> Version | None:
    return None if gold is None else (gold, task_version)


def _shown(board: Board, version: Version | None) -> Board:
    """Return `board` unchanged.

    version: the version that the request names; None: it names none. Raises NotFound if it names a version whose board
    was never public.
    """
    if version is not None and board.leaderboard is None:
        raise NotFound("This phase has no public board of gold version {}, task version {}.".format(*version))
    return board
