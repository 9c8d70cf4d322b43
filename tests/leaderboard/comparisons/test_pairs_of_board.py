"""Pairs of a board: a page of them is a slice of all pairs, with p-values corrected over the whole family."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.queries import Board, board_of
from leaderboard.comparisons.queries.pairs import RankedPairs, ranked_pairs
from leaderboard.models import Comparison, Leaderboard, Phase, Ranking, Split
from tests.support.all_pairs_ranking import correct_and_rank
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
N = 8


world, _django_db_helper = shared_states(world=build)


def compared_board(world: World, seed: int = 1) -> Board:
    """A board of eight ranked systems and a baseline, with all pairs compared; some pairs have no test."""
    draw = random.Random(seed)
    for number in range(N):
        stand(world, f"System {number}", [score("accuracy", draw.randrange(5) / 4)])
    stand(world, "Given", [score("accuracy", 0.9)], kind="baseline")
    board = Leaderboard.objects.get()
    runs = sorted(board.standings.filter(rank__isnull=False).values_list("release__run", flat=True))
    for a, b in combinations(runs, 2):
        p = draw.choice([None, 0.001, 0.001, 0.002, 0.01, 0.5, 1.0])
        state: dict[str, Any] = {"difference": None if p is None else draw.uniform(-1, 1), "low": None, "high": None}
        if p is not None and draw.random() < 0.7:
            state |= {"low": state["difference"] - 0.1, "high": state["difference"] + 0.2}
        fields = {"n_permutations": 999, "n_groups": 4, "resamples": 1000, "seed": 0}
        Comparison.objects.create(leaderboard=board, a_id=a, b_id=b, measure="accuracy", p=p, **state, **fields)
    state = {"changes": 1, "covered": 1, "enqueued_at": timezone.now(), "computed_at": timezone.now()}
    Ranking.objects.update_or_create(leaderboard=board, defaults={**state, "n_pairs": N * (N - 1) // 2})
    return board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())


def by_reading_all(board: Board) -> list[tuple[Any, ...]]:
    """(a, b, difference, low, high, p, p_holm) of every pair in the order of ranks, corrected in one family."""
    rows = [row for row in board.rows if row.rank is not None]
    rows = {row.run_id: row for row in sorted(rows, key=lambda row: -row.score("accuracy").value)}
    by_pair = {frozenset((comparison.a_id, comparison.b_id)): comparison for comparison in Comparison.objects.all()}
    family = correct_and_rank(
        values={run: row.score("accuracy").value for run, row in rows.items()},
        comparisons=[
            (comparison.a_id, comparison.b_id, comparison.p, comparison.n_permutations)
            for comparison in by_pair.values()
        ],
        higher_is_better=True,
    )
    expected = []
    for pair in combinations(list(rows), 2):
        comparison = by_pair[frozenset(pair)]
        interval = (comparison.difference, comparison.low, comparison.high)
        if comparison.a_id != pair[0]:
            interval = tuple(
                None if end is None else -end for end in (comparison.difference, comparison.high, comparison.low)
            )
        expected.append((*pair, *interval, comparison.p, family.p_holm[frozenset(pair)]))
    return expected


def as_tuples(pairs: Any) -> list[tuple[Any, ...]]:
    return [(pair.a.run_id, pair.b.run_id, pair.difference, pair.low, pair.high, pair.p, pair.p_holm) for pair in pairs]


@pytest.mark.parametrize("seed", range(4))
def test_pages_equal_the_correction_of_the_whole_family(world: World, seed: int) -> None:
    board = compared_board(world, seed)
    pairs = ranked_pairs(board)
    everything = as_tuples(pairs)
    expected = {frozenset(line[:2]): line for line in by_reading_all(board)}
    assert len(pairs) == len(everything) == N * (N - 1) // 2 == len(expected)
    for line in everything:
        other = expected[frozenset(line[:2])]
        turned = tuple(None if end is None else -end for end in (other[2], other[4], other[3]))
        assert line[2:5] == (other[2:5] if line[:2] == other[:2] else turned)
        assert line[5:] == other[5:]
    ranks = [(pair.a.rank, pair.b.rank) for pair in pairs]
    firsts = [a for a, _ in ranks]
    assert firsts == sorted(firsts) and all(a <= b for a, b in ranks)


def test_a_page_is_a_slice_of_all_pairs(world: World) -> None:
    pairs = ranked_pairs(compared_board(world))
    everything = as_tuples(pairs)
    for first, last in ((0, 3), (5, 9), (6, 7), (20, 28), (27, 40), (28, 30), (0, 28)):
        assert as_tuples(pairs[first:last]) == everything[first:last], (first, last)
    assert [as_tuples([pairs[index]])[0] for index in (0, 6, 7, 27, -1)] == [everything[i] for i in (0, 6, 7, 27, -1)]
    with pytest.raises(IndexError):
        pairs[28]


def test_for_selected_systems_only_their_pairs_are_read(world: World) -> None:
    board = compared_board(world)
    pairs = ranked_pairs(board)
    assert isinstance(pairs, RankedPairs)
    best = [row for row in board.rows if row.rank is not None][:3]
    own = {row.run_id for row in best}
    with CaptureQueriesContext(connection) as queries:
        rows = as_tuples(pairs.among(best))
    assert len(queries) == 1
    assert rows == [line for line in as_tuples(pairs) if {*line[:2]} <= own] and len(rows) == 3


def test_there_are_no_pairs_until_ranges_are_ready(world: World) -> None:
    compared_board(world)
    Ranking.objects.update(changes=2)
    board = board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())
    assert len(ranked_pairs(board)) == 0


@pytest.mark.parametrize("exact", [True, False])
def test_digits_of_p_do_not_follow_from_the_number_of_permutations(world: World, exact: bool) -> None:
    Split.objects.filter(pk=world.split.pk).update(gold_public=False)
    Phase.objects.update(exact_scores=exact)
    pairs = ranked_pairs(compared_board(world))
    assert len(pairs) and {pair.n_permutations for pair in pairs} == {999 if exact else None}
