"""The migration that ranks boards of over 10,000 pairs again, on which all pairs were compared before."""

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Leaderboard, Ranking
from tests.support.rows.tiny_world import World
from tests.support.rows.wide_phase import board_of, build_wide, enter, ranges, rank_all

migration = import_module("leaderboard.migrations.0031_compared_pairs")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build_wide()
    for name, wrong in (("Best", 0), ("Half", 25)):
        enter(world, name, wrong)
    rank_all(world)
    return world


@pytest.mark.parametrize(("n_pairs", "is_large"), [(9870, False), (10_011, True)])
def test_only_large_boards_are_ranked_again(world: World, n_pairs: int, is_large: bool) -> None:
    board, before = board_of(world), ranges(board_of(world))
    Ranking.objects.update(n_pairs=n_pairs)
    migration.rank_large_boards_again(apps, None)
    assert Ranking.objects.get().is_due == is_large
    assert (ranges(board) == before) == (not is_large)
    assert (Leaderboard.objects.get().revision > board.revision) == is_large, "cached pages are invalid"
    rank_all(world)
    assert ranges(board) == before
