"""Bounds of a ladder's scores: they always contain the true score, and no page or file shows a rounded one as exact."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.cli.tables import board_table, score_table
from evaluator.disclosure import ladder
from evaluator.disclosure.ladder import Bounds
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import ShownScore
from leaderboard.boards.queries.ladder_bounds import with_bounds
from leaderboard.boards.web.pages.symmetric import GENERATED, ORIGINAL
from leaderboard.boards.web.tables.number_format import NONE, compact_score, shown_value, true_score
from leaderboard.models import Benchmark, Leaderboard, Phase, RankChange, Score, System
from leaderboard.templatetags.declared import revealed_value
from tests.leaderboard.boards.disclosure.test_ladder_arithmetic import CORRELATION, ERROR, SHARE, Measure
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

NO_DIRECTION = Measure(low=-1.0, higher_is_better=None)
MEASURES = st.sampled_from([SHARE, ERROR, CORRELATION, NO_DIRECTION])
# Hypothesis reads the constants of all modules at its first draw.
UNHURRIED = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
SLACK = 1e-8
"""A multiple of the step stays on its grid despite floating-point errors, so a bound may be off by as much."""


@st.composite
def rounded(draw: st.DrawFn) -> tuple[float, Measure, float, int]:
    """Return (true score, measure, shown score, number of groups)."""
    measure, n_groups = draw(MEASURES), draw(st.integers(1, 5000))
    value = draw(st.floats(measure.low, measure.high))
    shown = ladder.shown(value, measure=measure, n_groups=n_groups)
    assert shown is not None
    return value, measure, shown, n_groups


@UNHURRIED
@given(rounded())
def test_the_bounds_contain_the_true_score(case: tuple[float, Measure, float, int]) -> None:
    value, measure, shown, n_groups = case
    bounds, step = ladder.bounds(shown, measure=measure, n_groups=n_groups), ladder.step(measure, n_groups)
    assert bounds.at_least is not None and bounds.at_most is not None and step is not None
    assert bounds.at_least - SLACK <= value <= bounds.at_most + SLACK
    assert bounds.at_most - bounds.at_least <= step + SLACK
    assert measure.low - SLACK <= bounds.at_least and bounds.at_most <= measure.high + SLACK


@UNHURRIED
@given(st.data())
def test_the_bounds_of_a_difference_contain_it_and_never_give_a_wrong_sign(data: st.DataObject) -> None:
    a, b = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
    shown = []
    for value, measure in ((a, SHARE), (b, SHARE), (a - b, NO_DIRECTION)):
        n_groups = data.draw(st.integers(1, 5000))
        on_grid = ladder.shown(value, measure=measure, n_groups=n_groups)
        assert on_grid is not None
        shown.append(ladder.bounds(on_grid, measure=measure, n_groups=n_groups))
    bounds = shown[2].within(shown[0].less(shown[1]))
    assert bounds.at_least is not None and bounds.at_most is not None
    assert bounds.at_least - SLACK <= a - b <= bounds.at_most + SLACK
    text = shown_value(ShownScore(bounds.at_least, bounds=bounds))
    low, _, high = text.replace("\N{MINUS SIGN}", "-").partition(" to ")
    assert float(low) - SLACK <= a - b <= float(high or low) + SLACK


@UNHURRIED
@given(rounded())
def test_what_is_printed_is_true(case: tuple[float, Measure, float, int]) -> None:
    value, measure, shown, n_groups = case
    score = ShownScore(shown, bounds=ladder.bounds(shown, measure=measure, n_groups=n_groups))
    text = shown_value(score).replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", "")
    if text.startswith("≥"):
        assert value >= float(text[1:]) - SLACK
    elif text.startswith("≤"):
        assert value <= float(text[1:]) + SLACK
    else:
        low, _, high = text.partition(" to ")
        assert float(low) - SLACK <= value <= float(high or low) + SLACK


@pytest.mark.parametrize(
    ("bounds", "text", "in_a_heat_table", "sentence"),
    [
        (Bounds(5 / math.sqrt(120), 6 / math.sqrt(120)), "≥\xa00.456", "≥.456", "between 0.456 and 0.548"),
        (Bounds(0.57, 0.67), "≥\xa00.570", "≥.570", "between 0.570 and 0.670"),
        (Bounds(1.0, 1.0), "1.000", "1.000", "1.000"),
        (
            Bounds(-0.0871, 0.0955, is_range=True),
            "\u22120.09 to 0.10",
            "\u2212.09 to .10",
            "between \u22120.088 and 0.096",
        ),
        (Bounds(0.5, None), "≥\xa00.500", "≥.500", "at least 0.500"),
    ],
)
def test_bounds_in_words(bounds: Bounds, text: str, in_a_heat_table: str, sentence: str) -> None:
    score = ShownScore(bounds.at_least, bounds=bounds)
    assert (shown_value(score), compact_score(score)) == (text, in_a_heat_table)
    assert true_score(score) == f"true score {sentence}"


def test_lower_is_better() -> None:
    bounds = ladder.bounds(0.3, measure=ERROR, n_groups=100)
    assert bounds == Bounds(0.2, 0.3)
    assert shown_value(ShownScore(0.3, bounds=bounds)) == "≤\xa00.300"


def test_a_gap_is_bounded_by_its_two_accuracies() -> None:
    phase = Phase(benchmark=Benchmark(task="fact-verification"), disclosure="ladder")
    groups = {
        "": {"symmetric_gap": 120},
        '{"origin":"original"}': {"accuracy": 120},
        '{"origin":"generated"}': {"accuracy": 120},
    }
    # A system that answers SUPPORTS: right on 68 of 120 original and 172 of 360 generated claims.
    true = {("symmetric_gap", ()): 68 / 120 - 172 / 360, ("accuracy", ORIGINAL): 68 / 120}
    true["accuracy", GENERATED] = 172 / 360
    declared = {measure.name: measure for measure in TASKS["fact-verification"].measures}
    scores = {
        key: ShownScore(ladder.shown(value, measure=declared[key[0]], n_groups=120)) for key, value in true.items()
    }
    shown = with_bounds(Leaderboard(phase=phase, slice_groups=groups), {1: scores})[1]
    assert scores["symmetric_gap", ()].value == pytest.approx(-0.087, abs=1e-3), "rounded down, below zero"
    assert shown_value(shown["symmetric_gap", ()]) == "0.00 to 0.10"
    assert shown_value(shown["accuracy", ORIGINAL]) == "≥\xa00.547"
    alone = with_bounds(
        Leaderboard(phase=phase, slice_groups=groups), {1: {("symmetric_gap", ()): scores["symmetric_gap", ()]}}
    )
    assert shown_value(alone[1]["symmetric_gap", ()]) == "\u22120.09 to 0.10"


@pytest.mark.parametrize(
    ("at_least", "at_most", "text"),
    [(0.45643546, None, ">= 0.4564"), (None, 0.45641, "<= 0.4565"), (0.456, 0.54772, "0.4560 to 0.5478")],
)
def test_the_command_line_prints_bounds(at_least: float | None, at_most: float | None, text: str) -> None:
    score = {"measure": "accuracy", "slice": {}, "value": 0.4, "low": None, "high": None, "n": 4}
    row = {"rank": 1, "tied": False, "rank_low": None, "rank_high": None, "system": "A", "team": "T"}
    score |= {"at_least": at_least, "at_most": at_most}
    assert text in board_table({"rows": [{**row, "scores": [score]}]})
    assert text in score_table([score])


@pytest.fixture
def ladder_board(transactional_db: None, sandbox: None) -> tuple[World, str, Any]:
    """Return a world, the path of a ladder's phase on which 73 of 100 answers are right, and the submission."""
    world, labels = build(), labels_of(100)
    phase = a_phase(world, a_split(world, labels))
    submission = send(world, phase, answers(labels, 27))
    score_all()
    return world, f"{world.benchmark.slug}/phases/{phase.slug}", submission


def test_every_format_says_at_least(ladder_board: tuple[World, str, Any], client: Client) -> None:
    world, path, submission = ladder_board
    board = client.get(f"/api/v1/benchmarks/{path}/leaderboard/?slices=kind").json()
    shown = {
        (row["measure"], *row["slice"].values()): (row["value"], row["at_least"], row["at_most"])
        for row in board["rows"][0]["scores"]
    }
    assert shown["accuracy",] == (0.7, 0.7, 0.8)
    assert shown["accuracy", "river"] == (0.6, 0.6, 0.8), "25 groups: steps of a fifth"
    for true in Score.objects.filter(run__release__submission=submission).exclude(value=None):
        key = (true.measure, *true.slice.values())
        if key in shown:
            assert shown[key][1] - SLACK <= true.value <= shown[key][2] + SLACK
    text = client.get(f"/api/v1/benchmarks/{path}/leaderboard.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["accuracy"], row["accuracy:at_least"], row["accuracy:at_most"]) == ("0.7", "0.7", "0.8")
    assert "≥ 0.700" in client.get(f"/api/v1/benchmarks/{path}/leaderboard.md").content.decode()
    assert r"$\geq 0.700$" in client.get(f"/api/v1/benchmarks/{path}/leaderboard.tex").content.decode()
    system, name = submission.system_id, submission.system.name
    client.force_login(world.researcher)
    board_page = f"/benchmarks/{path.replace('/phases', '')}/"
    pages = (board_page, f"{board_page}embed/", f"{board_page}badge.svg?system={name}", f"{board_page}by/kind/")
    for address in (*pages, f"/systems/{system}/", f"/submissions/{submission.pk}/"):
        response = client.get(address)
        assert response.status_code == 200, address
        assert "≥" in response.content.decode(), address
    assert "true score between 0.700 and 0.800" in client.get(f"/submissions/{submission.pk}/").content.decode()


def test_a_baseline_of_the_progress_page_has_bounds(ladder_board: tuple[World, str, Any], client: Client) -> None:
    _, path, _ = ladder_board
    System.objects.update(kind="baseline")
    page = client.get(f"/benchmarks/{path.replace('/phases', '')}/progress/").content.decode()
    assert '<td class="num">≥\xa00.700</td>' in page


def test_changes_of_rank_have_bounds(ladder_board: tuple[World, str, Any], client: Client) -> None:
    world, _, submission = ladder_board
    board = Leaderboard.objects.get(phase=submission.phase)
    same = {"phase": submission.phase, "gold_version": board.gold_version, "shown_from": board.shown_from}
    replaced = Leaderboard.objects.create(**same, task_version=board.task_version + 1, state="frozen")
    values = {"rank_before": 1, "value_before": 0.54772, "rank": 1, "value": 0.7}
    RankChange.objects.create(
        leaderboard=board, replaced=replaced, system=submission.system, measure="accuracy", **values
    )
    Leaderboard.objects.filter(pk=board.pk).update(shown_from=timezone.now())
    client.force_login(world.researcher)
    page = client.get(f"/submissions/{submission.pk}/").content.decode()
    assert "≥\xa00.547<" in page and "0.548" not in page


@pytest.mark.parametrize(
    ("disclosure", "measure", "text"),
    [("full", "accuracy", "0.548"), ("ladder", "accuracy", "≥\xa00.547"), ("ladder", "former", "0.548")],
)
def test_a_value_on_a_page_of_a_submission(disclosure: str, measure: str, text: str) -> None:
    phase = Phase(benchmark=Benchmark(task="fact-verification"), disclosure=disclosure)
    assert revealed_value(phase, measure, 0.54772) == text
    assert revealed_value(phase, measure, None) == NONE


def test_boards_of_other_phases_have_no_bounds(ladder_board: tuple[World, str, Any], client: Client) -> None:
    world, _, _ = ladder_board
    world.submit()
    score_all()
    path = f"{world.benchmark.slug}/phases/{world.phase.slug}"
    (row,) = client.get(f"/api/v1/benchmarks/{path}/leaderboard/").json()["rows"]
    assert not any("at_least" in score for score in row["scores"])
    assert ":at_least" not in client.get(f"/api/v1/benchmarks/{path}/leaderboard.csv").content.decode()


def test_without_numbers_of_groups_a_score_is_bounded_on_one_side(
    ladder_board: tuple[World, str, Any], client: Client
) -> None:
    _, path, _ = ladder_board
    Leaderboard.objects.update(slice_groups={})
    (row,) = client.get(f"/api/v1/benchmarks/{path}/leaderboard/").json()["rows"]
    (accuracy,) = (score for score in row["scores"] if score["measure"] == "accuracy")
    assert (accuracy["at_least"], accuracy["at_most"]) == (0.7, None)
