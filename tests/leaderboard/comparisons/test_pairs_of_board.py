"""Pairs of a board: a page of them is all of them, cut; corrected as the whole family is."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluator.statistics.multiple_testing import holm
from leaderboard.boards.queries import Board, board_of
from leaderboard.comparisons.queries.pairs import RankedPairs, holm_of_counted, ranked_pairs
from leaderboard.comparisons.queries.rank_ranges import corrected
from leaderboard.models import Comparison, Leaderboard, Phase, Ranking
from tests.support.board_rows import score, stand
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
N = 8


@pytest.fixture
def world() -> World:
    return build()


def compared(world: World, seed: int = 1) -> Board:
    """A board of eight ranked systems and a baseline, with all pairs compared; some have no test."""
    draw = random.Random(seed)
    for number in range(N):
        stand(world, f"System {number}", [score("accuracy", draw.randrange(5) / 4)])
    stand(world, "Given", [score("accuracy", 0.9)], kind="baseline")
    board = Leaderboard.objects.get()
    runs = sorted(board.standings.filter(rank__isnull=False).values_list("release__run", flat=True))
    for a, b in combinations(runs, 2):
        p = draw.choice([None, 0.001, 0.001, 0.002, 0.01, 0.5, 1.0])
        told: dict[str, Any] = {"difference": None if p is None else draw.uniform(-1, 1), "low": None, "high": None}
        if p is not None and draw.random() < 0.7:
            told |= {"low": told["difference"] - 0.1, "high": told["difference"] + 0.2}
        more = {"n_permutations": 999, "n_groups": 4, "resamples": 1000, "seed": 0}
        Comparison.objects.create(leaderboard=board, a_id=a, b_id=b, measure="accuracy", p=p, **told, **more)
    told = {"changes": 1, "covered": 1, "enqueued_at": timezone.now(), "computed_at": timezone.now()}
    Ranking.objects.update_or_create(leaderboard=board, defaults={**told, "n_pairs": N * (N - 1) // 2})
    return board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())


def by_reading_all(board: Board) -> list[tuple[Any, ...]]:
    """(a, b, difference, low, high, p, p_holm) of every pair in the order of ranks, corrected in one family."""
    rows = [row for row in board.rows if row.rank is not None]
    rows = {row.run_id: row for row in sorted(rows, key=lambda row: -row.score("accuracy").value)}
    there = {frozenset((one.a_id, one.b_id)): one for one in Comparison.objects.all()}
    family = corrected(
        values={run: row.score("accuracy").value for run, row in rows.items()},
        comparisons=[(one.a_id, one.b_id, one.p, one.n_permutations) for one in there.values()],
        higher_is_better=True,
    )
    found = []
    for pair in combinations(list(rows), 2):
        one = there[frozenset(pair)]
        ends = (one.difference, one.low, one.high)
        if one.a_id != pair[0]:
            ends = tuple(None if end is None else -end for end in (one.difference, one.high, one.low))
        found.append((*pair, *ends, one.p, family.p_holm[frozenset(pair)]))
    return found


def told(pairs: Any) -> list[tuple[Any, ...]]:
    return [(one.a.run_id, one.b.run_id, one.difference, one.low, one.high, one.p, one.p_holm) for one in pairs]


@pytest.mark.parametrize("seed", range(4))
def test_they_are_what_one_family_of_all_gives(world: World, seed: int) -> None:
    board = compared(world, seed)
    pairs = ranked_pairs(board)
    everything = told(pairs)
    expected = {frozenset(line[:2]): line for line in by_reading_all(board)}
    assert len(pairs) == len(everything) == N * (N - 1) // 2 == len(expected)
    for line in everything:
        other = expected[frozenset(line[:2])]
        turned = tuple(None if end is None else -end for end in (other[2], other[4], other[3]))
        assert line[2:5] == (other[2:5] if line[:2] == other[:2] else turned)
        assert line[5:] == other[5:]
    places = [(one.a.rank, one.b.rank) for one in pairs]
    firsts = [a for a, _ in places]
    assert firsts == sorted(firsts) and all(a <= b for a, b in places)


def test_a_page_is_a_cut_of_all_of_them(world: World) -> None:
    pairs = ranked_pairs(compared(world))
    everything = told(pairs)
    for first, last in ((0, 3), (5, 9), (6, 7), (20, 28), (27, 40), (28, 30), (0, 28)):
        assert told(pairs[first:last]) == everything[first:last], (first, last)
    assert [told([pairs[place]])[0] for place in (0, 6, 7, 27, -1)] == [everything[i] for i in (0, 6, 7, 27, -1)]
    with pytest.raises(IndexError):
        pairs[28]


def test_of_some_systems_only_their_pairs_are_read(world: World) -> None:
    board = compared(world)
    pairs = ranked_pairs(board)
    assert isinstance(pairs, RankedPairs)
    best = [row for row in board.rows if row.rank is not None][:3]
    own = {row.run_id for row in best}
    with CaptureQueriesContext(connection) as asked:
        found = told(pairs.among(best))
    assert len(asked) == 1
    assert found == [line for line in told(pairs) if {*line[:2]} <= own] and len(found) == 3


def test_a_pair_that_is_not_there_is_no_empty_cell(world: World) -> None:
    board = compared(world)
    Comparison.objects.filter(pk=Comparison.objects.latest("pk").pk).delete()
    with pytest.raises(KeyError):
        ranked_pairs(board)


def test_until_ranges_are_ready_there_are_none(world: World) -> None:
    compared(world)
    Ranking.objects.update(changes=2)
    board = board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())
    assert len(ranked_pairs(board)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_counted_p_values_are_raised_as_each_would_be(seed: int) -> None:
    draw = np.random.default_rng(seed)
    given = sorted(draw.choice([0.001, 0.002, 0.004, 0.03, 0.05, 0.5, 1.0], size=draw.integers(1, 60)).tolist())
    counted = [(p, given.count(p)) for p in sorted(set(given))]
    raised = dict(zip([p for p, _ in counted], holm_of_counted(counted), strict=True))
    assert [raised[p] for p in given] == holm(given)


def test_no_p_value_is_none_to_raise() -> None:
    assert holm_of_counted([]) == []
