"""Texts next to numbers on boards are true of the numbers shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from leaderboard.boards.queries import ShownScore
from leaderboard.comparisons.queries.head_to_head import Line
from leaderboard.comparisons.web.head_to_head import Table
from leaderboard.models import Phase, Submission
from leaderboard.submissions.actions.hide import hide
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build
from tests.support.rows.wide_phase import build_wide, enter, rank_all, score_all

NO_CELL = ShownScore(None, None, None, 0)
BOARD = "/benchmarks/tiny/test/"


def page_text(address: str, **query: Any) -> str:
    response = Client().get(address, query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.fixture
def ranked_systems(transactional_db: None, sandbox: str) -> World:
    world = build_wide()
    for name, wrong in (("Best", 0), ("Good", 1), ("Half", 25)):
        enter(world, name, wrong)
    score_all()
    rank_all(world)
    return world


@pytest.mark.django_db(transaction=True)
def test_rank_ranges_of_the_whole_are_not_shown_for_a_slice(ranked_systems: World) -> None:
    of_ranges = "see the Significance tab for which systems differ"
    assert of_ranges in page_text(BOARD)
    page = page_text(BOARD, slice="label:SUPPORTS")
    assert "with its 95 % interval" in page
    assert of_ranges not in page and "The rank ranges are for all units." in page


@pytest.mark.django_db(transaction=True)
def test_bars_are_described_as_joining_neighbours(ranked_systems: World) -> None:
    page = page_text(f"{BOARD}significance/")
    assert "the table lists every pair without a significant difference" in page
    assert "do not differ significantly. Bars join neighbours only" in page or "All neighbours differ" in page


@pytest.mark.django_db(transaction=True)
def test_texts_about_ranges_follow_the_tests(ranked_systems: World) -> None:
    """Best and Good do not differ significantly until Good is hidden."""
    assert "ranks that the tests leave open" in page_text(BOARD)
    hide(submission=Submission.objects.get(system__name="Good"), reason="leaked", by=ranked_systems.curator)
    rank_all(ranked_systems)
    assert "ranks that the tests leave open" not in page_text(BOARD)
    page = page_text(f"{BOARD}significance/")
    assert "All ranked systems differ significantly from each other." in page
    assert "Not significantly different from" not in page


@pytest.mark.django_db
@pytest.mark.parametrize("policy", ["full", "ladder"])
def test_a_gap_on_a_ladder_need_not_be_the_difference(policy: str) -> None:
    stand(build(), "One")
    Phase.objects.update(disclosure=policy)
    assert ("the range in which the true difference lies" in page_text(f"{BOARD}symmetric/")) == (policy == "ladder")


@pytest.mark.django_db
def test_a_sealed_phase_says_so_and_until_when() -> None:
    build()
    sealed_until = datetime(2099, 3, 4, 5, 6, tzinfo=UTC)
    assert "No system has been scored in this phase yet." in page_text(BOARD)
    assert "Be the first" in page_text("/benchmarks/tiny/")
    Phase.objects.update(disclosure="sealed", closes_at=sealed_until, sealed_until=sealed_until)
    for page in ("", "symmetric/", "by/label/"):
        words = page_text(f"{BOARD}{page}")
        assert "No system has been scored" not in words and "This phase is sealed" in words
    words = page_text("/benchmarks/tiny/")
    assert "Be the first" not in words and "No system has been scored" not in words
    assert words.count("2099-03-04 05:06 UTC</time>") == 2, "instead of the empty board, and as the deadline"
    words = page_text("/benchmarks/tiny/about/submit/")
    assert "sealed until" in words and words.count("2099-03-04 05:06 UTC") >= 2, "as state and as end"


def test_p_is_corrected_for_the_slices_that_are_tested() -> None:
    tested = [Line("a", (), NO_CELL, NO_CELL, p=0.2), Line("b", (), NO_CELL, NO_CELL)]
    assert Table("By kind", "kind", tested, None).n_tested == 1
