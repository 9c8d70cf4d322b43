"""Rank ranges as shown to readers: on the board's page, in the board as JSON, and in its pairs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluator.statistics.holm import holm
from leaderboard.boards import queries
from leaderboard.boards.actions import boards
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.models import Comparison, Leaderboard, Phase, PublicPrivatePartition, Ranking, ReleaseSlice, Run
from leaderboard.submissions.actions.hide import hide, unhide
from leaderboard.systems.actions import systems
from tests.support.rows.tiny_world import World
from tests.support.rows.wide_phase import answers, board_of, build_wide, enter, rank_all, score_all
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/benchmarks/tiny/test/"
BOARD = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
PAIRS = f"{BOARD}comparisons/"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build_wide()
    for name, wrong in (("Half", 25), ("Best", 0), ("Good", 1)):
        enter(world, name, wrong)
    enter(world, "Baseline", 30, kind="baseline")
    score_all()
    return world


def body(address: str) -> dict[str, Any]:
    response = Client().get(address)
    assert response.status_code == 200
    content: dict[str, Any] = response.json()
    return content


def page() -> str:
    return Client().get(PAGE).content.decode()


def ranks() -> list[list[Any]]:
    return [[row["system"], row["rank"], row["rank_low"], row["rank_high"]] for row in body(BOARD)["rows"]]


def test_while_a_comparison_is_missing_no_pair_is_listed(world: World) -> None:
    """A standing may change between the reading of the rows and of the comparisons."""
    rank_all(world)
    Comparison.objects.filter(pk=Comparison.objects.values("pk")[:1]).delete()
    assert Client().get(f"{PAGE}significance/").status_code == 200
    assert (body(PAIRS)["count"], body(PAIRS)["results"]) == (0, [])


def test_the_number_of_groups_is_that_of_the_public_groups(world: World) -> None:
    rank_all(world)
    PublicPrivatePartition.objects.create(
        gold=board_of(world).gold_version, share="0.2", seed=1, n_public=8, n_private=32, sha256="0" * 64
    )
    Phase.objects.update(subset="public")
    assert "paired permutation test over the 8 groups (Holm" in page()


def test_a_board_says_that_its_ranges_are_being_computed(world: World) -> None:
    assert "are being updated" in page() and "could be" not in page()
    assert body(BOARD)["rank_ranges"] == "computing"
    assert [content[2:] for content in ranks()] == [[None, None]] * 4
    content = body(PAIRS)
    assert (content["count"], content["results"], content["rank_ranges"]) == (0, [], "computing")


def test_ranges_on_the_page_and_in_the_api(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    assert ranks() == [["Best", 1, 1, 2], ["Good", 2, 1, 2], ["Half", 3, 3, 3], ["Baseline", None, None, None]]
    assert body(BOARD)["rank_ranges"] == "ready"
    markup = page()
    assert markup.count("1\N{EN DASH}2") == 2 and "3\N{EN DASH}3" not in markup, "where only one rank is possible"
    assert "All 3 pairs are compared" in markup and "being updated" not in markup
    assert "would need more permutations" not in markup
    read(markup)


def test_every_pair_has_its_corrected_p_value(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    content = body(PAIRS)
    assert (content["count"], content["measure"], content["rank_ranges"]) == (3, "accuracy", "ready")
    names = [(pair["a"]["system"], pair["b"]["system"], pair["significant"]) for pair in content["results"]]
    assert names == [("Best", "Good", False), ("Best", "Half", True), ("Good", "Half", True)]
    assert [pair["difference"] for pair in content["results"]] == pytest.approx([0.025, 0.625, 0.6])
    assert [pair["p_holm"] for pair in content["results"]] == holm([pair["p"] for pair in content["results"]])
    for pair in content["results"]:
        assert pair["low"] <= pair["difference"] <= pair["high"] and pair["n_groups"] == 40
        assert pair["a"]["rank"] < pair["b"]["rank"]
    second = body(f"{PAIRS}?page=2&page_size=2")
    assert [pair["a"]["system"] for pair in second["results"]] == ["Good"] and second["count"] == 3
    assert Client().get(f"{PAIRS}?page=0").status_code == 400
    assert Client().get(f"{PAIRS}?page=3&page_size=2").status_code == 404


def test_on_hidden_gold_pairs_are_rounded_and_those_of_brief_answers_have_no_numbers(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    exact = body(PAIRS)["results"]
    Phase.objects.update(exact_scores=False)
    boards.revise(Leaderboard.objects.all())
    # A quarter of the largest standard error of the mean of 40 differences, from -1 to 1, is .0395.
    rounded = body(PAIRS)["results"]
    assert [pair["difference"] for pair in rounded] == [0.02, 0.62, 0.6], "multiples of .02"
    for before, shown in zip(exact, rounded, strict=True):
        low, high = (round(50 * before[name], 6) for name in ("low", "high"))
        assert [50 * shown[name] for name in ("low", "high")] == pytest.approx([math.floor(low), math.ceil(high)])
        assert before["p"] <= shown["p"] <= 2 * before["p"] and shown["n_permutations"] is None
        assert float(f"{shown['p']:.0e}") == shown["p"], "one digit"
    best = ReleaseSlice.objects.get(slice_key="", release__submission__system__name="Best")
    best.scores["accuracy"][1:3] = [None, None]
    ReleaseSlice.objects.filter(pk=best.pk).update(scores=best.scores)
    boards.revise(Leaderboard.objects.all())
    brief, also_brief, detailed = body(PAIRS)["results"]
    assert detailed == rounded[2]
    for pair in (brief, also_brief):
        assert [pair[name] for name in ("difference", "low", "high", "p", "p_holm")] == [None] * 5
    assert [pair["significant"] for pair in (brief, also_brief, detailed)] == [False, True, True]


def test_systems_that_are_shown_as_equal_do_not_differ_significantly(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    Comparison.objects.update(p=1e-6)
    assert all(pair["significant"] for pair in body(PAIRS)["results"])
    for row in ReleaseSlice.objects.filter(slice_key=""):
        row.scores["accuracy"][0] = 0.5
        ReleaseSlice.objects.filter(pk=row.pk).update(scores=row.scores)
    boards.revise(Leaderboard.objects.all())
    assert not any(pair["significant"] for pair in body(PAIRS)["results"])


def test_an_unchanged_answer_is_not_sent_again(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    for address in (PAIRS, BOARD, PAGE):
        tag = Client().get(address)["ETag"]
        # A proxy that compresses makes the tag weak.
        for sent in (tag, f"W/{tag}"):
            assert Client().get(address, HTTP_IF_NONE_MATCH=sent).status_code == 304


def test_a_failed_computation_is_reported(world: World) -> None:
    Ranking.objects.update(failures=settings.MAX_ATTEMPTS)
    assert "could not be computed" in page()
    assert body(BOARD)["rank_ranges"] == "failed"


def test_pairs_that_need_more_permutations_are_counted(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    Comparison.objects.filter(p__lt=0.01).update(p=1 / 11, n_permutations=10)
    Ranking.objects.update(covered=0)
    rank_ranges.WORK.run(board_of(world).pk)
    assert [row[2:] for row in ranks()[:3]] == [[1, 3]] * 3
    assert "<strong>2 pairs</strong> would need more permutations" in page()


def test_a_frozen_board_shows_its_ranges_and_links_to_its_own_pairs(world: World) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    board = board_of(world)
    type(board).objects.filter(pk=board.pk).update(state="frozen")
    markup = Client().get(f"{PAGE}gold-2/task-1/").content.decode()
    address = f"{PAIRS}?gold_version=2&task_version=1"
    assert markup.count("1\N{EN DASH}2") == 2 and address.replace("&", "&amp;") in markup
    assert body(address)["count"] == 3 and body(PAIRS)["count"] == 0
    assert (
        f"{PAIRS}?" in body(f"{address}&page_size=2")["next"]
        and "gold_version=2" in body(f"{address}&page_size=2")["next"]
    )


def test_a_phase_may_hide_comparisons(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    for reader in (queries.board, queries.reading):
        monkeypatch.setattr(reader, "reveals_comparisons", lambda phase: False)
    assert body(BOARD)["rank_ranges"] == "none" and body(PAIRS)["results"] == []
    assert [row[2:] for row in ranks()] == [[None, None]] * 4
    assert "being updated" not in page()


def test_disqualification_or_a_new_choice_may_hide_published_ranges(world: World) -> None:
    """They are computed again; until then there are none."""
    rank_ranges.WORK.run(board_of(world).pk)
    leader = board_of(world).standings.get(rank=1)
    assert leader.rank_high is not None
    worse = world.submit(answers(30), system=leader.system)
    score_all()
    rank_all(world)
    systems.represent(submission=worse, by=world.researcher)
    assert board_of(world).standings.get(system=leader.system).rank > 1
    rank_all(world)
    systems.represent_by_best(phase=world.phase, system=leader.system, by=world.researcher)
    rank_all(world)
    systems.disqualify(phase=world.phase, system=leader.system, reason="trained on the test", by=world.curator)
    assert [row[2:] for row in ranks()] == [[None, None]] * 4
    rank_all(world)
    systems.reinstate(phase=world.phase, system=leader.system, by=world.curator)
    rank_all(world)
    assert board_of(world).standings.get(rank=1).system == leader.system


@pytest.mark.parametrize("is_older", [False, True], ids=["this scorer", "an older scorer's board"])
def test_hiding_a_system_recomputes_ranges_from_stored_comparisons(world: World, is_older: bool) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    board = board_of(world)
    before, n_compared = ranks(), Comparison.objects.count()
    if is_older:
        Run.objects.update(task_version=0)
        Leaderboard.objects.filter(pk=board.pk).update(task_version=0)
    submission = board.standings.get(rank=1).release.submission
    hide(submission=submission, reason="leaked", by=world.curator)
    assert body(BOARD)["rank_ranges"] == "computing" and ranks()[0][:2] == ["Good", 1]
    rank_ranges.WORK.run(board.pk)
    assert body(BOARD)["rank_ranges"] == "ready" and body(PAIRS)["count"] == 1
    unhide(submission=submission, by=world.curator)
    rank_ranges.WORK.run(board.pk)
    assert ranks() == before and Comparison.objects.count() == n_compared


def test_a_single_system_has_no_range(transactional_db: None, sandbox: str) -> None:
    world = build_wide()
    enter(world, "Alone", 3)
    rank_all(world)
    assert body(BOARD)["rank_ranges"] == "none" and "may be" not in page()
    assert ranks() == [["Alone", 1, None, None]]


@pytest.mark.parametrize("address", [PAGE, BOARD, PAIRS])
def test_more_systems_take_no_more_queries(world: World, address: str) -> None:
    rank_ranges.WORK.run(board_of(world).pk)
    with CaptureQueriesContext(
        connection,
    ) as queries_for_few:
        Client().get(address)
    for index in range(4):
        enter(world, f"More {index}", 4 + index)
    rank_all(world)
    with CaptureQueriesContext(connection) as queries_for_many:
        Client().get(address)
    assert len(queries_for_many) == len(queries_for_few)
