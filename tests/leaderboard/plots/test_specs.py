"""Plots as Vega-Lite specifications: their data, who sees them, and that Vega-Lite accepts them."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from evaluator.disclosure.ladder import Bounds
from leaderboard.boards.queries import NO_SCORE, ShownScore
from leaderboard.boards.queries.plots import Column, Curve, Grid, Pairs
from leaderboard.boards.queries.system_history import RevealedRun
from leaderboard.boards.web.pages.cost import CostedSystem
from leaderboard.boards.web.pages.progress import Level, ScoreAtTime
from leaderboard.boards.web.tables.cost_columns import CostColumn
from leaderboard.models import Benchmark, Phase, System
from leaderboard.plots.specs.contrast_pairs import contrast_pairs
from leaderboard.plots.specs.cost import cost
from leaderboard.plots.specs.leakage_budget import POINTS, leakage_budget
from leaderboard.plots.specs.progress import progress, runs
from leaderboard.plots.specs.progress import reference_values as progress_reference_values
from leaderboard.plots.specs.rank_agreement import rank_agreement
from leaderboard.plots.specs.roc import roc
from leaderboard.plots.vega_lite import DARK_SHADES, SHADES
from leaderboard.systems.actions import systems
from tests.support.row_factory import board, row
from tests.support.rows.board_rows import score, stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import ADDRESS, cross, crossed_scores

PLOTS = "/api/v1/benchmarks/tiny/phases/test/leaderboard/plots"
HOSTILE = '<script>alert(1)</script>&"=cmd'


def built() -> World:
    """Three competing systems and an annotator, who does not compete."""
    world = build()
    at = timezone.now() - timedelta(days=9)
    for days, (name, value) in enumerate((("First", 0.5), ("Worse", 0.4), (HOSTILE, 0.7))):
        stand(world, name, [score("accuracy", value)], at=at + timedelta(days=days))
    stand(world, "Human annotator", [score("accuracy", 0.9)], kind="organiser", at=at)
    return world


world, _django_db_helper = shared_states(world=built)


def spec(plot: str, client: Client | None = None, **query: Any) -> dict[str, Any]:
    response = (client or Client()).get(f"{PLOTS}/{plot}/", query)
    assert response.status_code == 200, response.content
    return response.json()


def values(plot: str, **query: Any) -> list[dict[str, Any]]:
    return spec(plot, **query)["data"]["values"]


@pytest.mark.django_db
class TestIntervals:
    def test_systems_are_in_the_order_of_the_board_with_value_interval_and_link(self, world: World) -> None:
        rows = values("intervals")
        assert [row["system"] for row in rows] == ["Human annotator", HOSTILE, "First", "Worse"]
        assert [row["order"] for row in rows] == [1, 2, 3, 4]
        assert [row["competes"] for row in rows] == [False, True, True, True]
        second = rows[1]
        assert (second["value"], second["low"], second["high"]) == (0.7, pytest.approx(0.6), pytest.approx(0.8))
        assert second["interval"] == "0.600 to 0.800"
        system = System.objects.get(name=HOSTILE)
        assert second["url"].startswith(f"http://testserver/systems/{system.pk}/?board=")

    def test_the_band_is_the_interval_of_the_first_rank(self, world: World) -> None:
        (band, *_) = spec("intervals")["layer"]
        assert band["data"]["values"] == [{"low": pytest.approx(0.6), "high": pytest.approx(0.8)}]

    def test_the_plot_has_the_rows_of_the_page(self, world: World) -> None:
        assert [row["system"] for row in values("intervals", kind="organiser")] == ["Human annotator"]
        assert [row["system"] for row in values("intervals", search="worse")] == ["Worse"]

    def test_errors_say_what_was_expected(self, world: World) -> None:
        response = Client().get(f"{PLOTS}/intervals/", {"slice": "no:such"})
        assert response.status_code == 400 and "slice" in response.json()["fields"]
        assert Client().get(f"{PLOTS}/none/").status_code == 404


@pytest.mark.django_db
class TestDisclosure:
    def test_an_anonymous_system_has_its_number(self, world: World) -> None:
        System.objects.filter(name="First").update(
            anonymous_number=7, anonymous_until=timezone.now() + timedelta(days=1)
        )
        text = json.dumps(spec("intervals"))
        assert "First" not in text and "Anonymous 7" in text

    def test_a_disqualified_system_does_not_lead(self, world: World) -> None:
        leader = System.objects.get(name=HOSTILE)
        systems.disqualify(phase=world.phase, system=leader, reason="two accounts", by=world.curator)
        (band, *_) = spec("intervals")["layer"]
        assert band["data"]["values"] == [{"low": pytest.approx(0.4), "high": pytest.approx(0.6)}]

    def test_a_draft_is_only_for_its_managers(self, world: World) -> None:
        Benchmark.objects.update(state=Benchmark.State.DRAFT)
        assert Client().get(f"{PLOTS}/intervals/").status_code == 404
        curator = Client()
        curator.force_login(world.curator)
        assert len(spec("intervals", curator)["data"]["values"]) == 4


@pytest.mark.django_db
def test_the_page_of_the_board_names_the_address_with_its_own_query(world: World) -> None:
    text = Client().get("/benchmarks/tiny/test/", {"kind": "organiser"}).content.decode()
    assert f'data-plot="{PLOTS}/intervals/?kind=organiser"' in text
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    assert "data-plot=" in Client().get("/benchmarks/tiny/test/").content.decode()


def test_names_of_improvements_neither_overlap_nor_leave_the_plot() -> None:
    at, shown_on = timezone.now(), board([], task="fact-checking", dimensions={})
    values = {"early": (0, 0.1), "crowded": (95, 0.895), "close": (98, 0.9), "last": (100, 0.92)}
    best = [
        (index, ScoreAtTime(index, name, at + timedelta(days=days), ShownScore(value)))
        for index, (name, (days, value)) in enumerate(values.items())
    ]
    plotted = progress(shown_on, best, [])
    assert plotted is not None
    sides = {value["system"]: value["is_late"] for value in plotted["data"]["values"] if value["is_named"]}
    assert sides == {"early": False, "last": True}


@pytest.mark.parametrize("plot", ["progress", "cost"])
@pytest.mark.parametrize("is_ladder", [False, True])
def test_scores_of_a_ladder_are_ranges_without_a_point(plot: str, is_ladder: bool) -> None:
    shown_on = board([], task="fact-checking", dimensions={})
    shown_on.__dict__["n_groups"] = 100
    shown = ShownScore(0.5, 0.4, 0.6)
    if is_ladder:
        shown_on.phase.disclosure = Phase.Disclosure.LADDER
        shown = ShownScore(0.5, bounds=Bounds(0.5, 0.6))
    if plot == "progress":
        plotted = progress(shown_on, [(1, ScoreAtTime(1, "A", timezone.now(), shown))], [])
    else:
        column = CostColumn("wall_seconds", "Time", "s", "from start to end", None)
        plotted = cost(shown_on, [CostedSystem(row("A", {}), shown, 5.0, True)], column)
    assert plotted is not None
    (value,) = plotted["data"]["values"]
    assert (value["low"], value["high"]) == ((0.5, 0.6) if is_ladder else (0.4, 0.6))
    marks = {layer["mark"]["type"]: layer["encoding"] for layer in plotted["layer"]}
    assert ("point" in marks) is not is_ladder
    assert (marks["rule"]["y"]["field"], marks["rule"]["y2"]["field"]) == ("low", "high")
    targets = marks["rule" if is_ladder else "point"]
    assert targets["href"] == {"field": "url"} and len([layer for layer in plotted["layer"] if "params" in layer]) == 1
    assert "formatType" not in json.dumps(plotted), "Vega-Lite calls it as a function, which gives NaN in tooltips"
    title = targets["tooltip"][2]["title"]
    assert title == "Ladder" if is_ladder else title.endswith(" interval")


def test_the_cost_plot_has_a_front_on_a_logarithmic_axis() -> None:
    systems = [
        CostedSystem(row(name, {}), ShownScore(value, value, value), spent, on_front)
        for name, value, spent, on_front in (("A", 0.5, 5.0, True), ("B", 0.4, 50.0, False))
    ]
    column = CostColumn("gpu_seconds", "GPU", "s", "", 20)
    plotted = cost(board([], task="fact-checking", dimensions={}), systems, column)
    assert plotted is not None
    values = [(value["cost_text"], value["front"]) for value in plotted["data"]["values"]]
    assert values == [("5 s", True), ("50 s", False)]
    front = plotted["layer"][0]
    assert (front["transform"], front["mark"]["type"]) == ([{"filter": "datum.front"}], "line")
    x = front["encoding"]["x"]
    assert (x["title"], x["scale"]["type"]) == ("gpu for 20 inputs", "log")


@pytest.mark.django_db
def test_a_symmetric_set_has_its_two_accuracies_and_the_floor(db: None) -> None:
    world = build()
    stand(world, "Even", symmetric_scores(original=0.7, generated=0.6))
    stand(world, "Claim only", symmetric_scores(original=1.0, generated=0.4))
    plotted = spec("symmetric")
    rows = [(row["system"], row["original"], row["generated"]) for row in plotted["data"]["values"]]
    assert rows == [("Even", 0.7, 0.6), ("Claim only", 1.0, 0.4)]
    assert plotted["layer"][0]["data"]["values"][0]["floor"] == 0.5


def test_pairs_fill_their_bar() -> None:
    rows = [(row("A", {}), Pairs(1, 2, 0, 1)), (row("B", {}), Pairs(3, 0, 0, 0))]
    empty = board([], task="fact-verification", dimensions={})
    plotted = contrast_pairs(empty, rows, are_whole=True)
    assert plotted is not None
    first = [(value["n"], value["start"], value["end"]) for value in plotted["data"]["values"][:4]]
    assert first == [(1, 0.0, 0.25), (2, 0.25, 0.75), (0, 0.75, 0.75), (1, 0.75, 1.0)]
    assert contrast_pairs(empty, []) is None
    layers = [layer["data"]["values"][0]["bound"] for layer in plotted["layer"] if "data" in layer]
    assert layers == [pytest.approx(1 / 3)] * 2, "the bound of a claim-only system, and its label"


def test_curves_differ_in_colour_or_dash() -> None:
    curves = [(row(f"S{i}", {}), ShownScore(0.5 + i / 100), Curve([0, 2, 3, 4, 4])) for i in range(8)]
    plotted = roc(board([], task="fact-checking", dimensions={}), curves, "auroc")
    assert plotted is not None
    encoding = plotted["layer"][1]["encoding"]
    pairs = zip(encoding["color"]["scale"]["range"], map(str, encoding["strokeDash"]["scale"]["range"]), strict=True)
    assert len(set(pairs)) == 8
    points = [(value["fpr"], value["tpr"]) for value in plotted["data"]["values"] if value["system"] == "S0"]
    assert points == [(0.0, 0.0), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0), (1.0, 1.0)]


def test_circles_show_the_share_of_their_column() -> None:
    grid = Grid([Column(0, 1, [4, 0, 0, 0]), Column(1, 4, [2, 3, 3, 4])])
    empty = board([], task="metric-correlation", dimensions={})
    plotted = rank_agreement(empty, [(row("S", {}), NO_SCORE, grid)], "r")
    assert plotted is not None
    first, *others = plotted["data"]["values"]
    assert (first["across"], first["up"], first["n"], first["share"]) == (0.5, 0.5, 4, 1.0), (
        "lowest rating at the bottom"
    )
    assert {circle["across"] for circle in others} == {2.5}, "a wide column is plotted in its middle"
    assert sum(circle["n"] for circle in (first, *others)) == grid.n


def test_labels_of_references_do_not_overlap() -> None:
    levels = [Level("a", 0.9, is_human=True), Level("b", 0.501), Level("c", 0.5), Level("d", 0.5)]
    placed = progress_reference_values(levels, [0.7])
    assert [value["name"] for value in placed] == ["a", "b", "c", "d"]
    gaps = [upper["label_at"] - lower["label_at"] for upper, lower in pairwise(placed)]
    assert min(gaps) >= 0.05 * 0.4 - 1e-9


class TestRunsOfASystem:
    def plotted(self, *scores: ShownScore) -> dict[str, Any]:
        at = datetime(2026, 3, 4, 12, tzinfo=UTC)
        shown = [RevealedRun(1, uuid.uuid4(), at + timedelta(days=day), score) for day, score in enumerate(scores)]
        best = [run for run in shown if run.score.value != 0.4]
        plot = runs(shown, best, "Accuracy")
        assert plot is not None
        return plot

    def test_the_line_goes_through_the_best_to_the_last_run(self) -> None:
        plot = self.plotted(ShownScore(0.5), ShownScore(0.6), ShownScore(0.4))
        line, *_, points = plot["layer"]
        steps = [(step["received"], step["value"]) for step in line["data"]["values"]]
        assert steps == [("2026-03-04T12:00:00Z", 0.5), ("2026-03-05T12:00:00Z", 0.6), ("2026-03-06T12:00:00Z", 0.6)]
        assert [(value["run"], value["is_best"]) for value in plot["data"]["values"]] == [
            ("No. 1", True),
            ("No. 2", True),
            ("No. 3", False),
        ]
        assert points["encoding"]["fill"]["condition"]["test"] == "datum.is_best"

    def test_on_a_ladder_they_are_ranges(self) -> None:
        plot = self.plotted(*(ShownScore(value, bounds=Bounds(value, value + 0.1)) for value in (0.5, 0.6)))
        (ranges,) = plot["layer"]
        assert ranges["mark"]["type"] == "rule" and ranges["encoding"]["y2"] == {"field": "high"}
        assert [(value["low"], value["high"]) for value in plot["data"]["values"]] == [(0.5, 0.6), (0.6, 0.7)]

    def test_one_score_has_no_plot(self) -> None:
        run = RevealedRun(1, uuid.uuid4(), timezone.now(), ShownScore(0.5))
        assert runs([run], [run], "Accuracy") is None


def test_a_leakage_budget_has_its_bounds_and_the_forecast() -> None:
    assert leakage_budget([0.0], 0.25, (500, 0.2)) is None
    plot = leakage_budget([0.0, 0.05, 0.1], 0.25, (500, 0.2))
    assert plot is not None
    useful, curve, *_ = (layer.get("data", {}).get("values") for layer in plot["layer"])
    assert useful == [{"bound": 0.25}]
    assert [(point["answers"], point["bound"]) for point in curve] == [(0, 0.0), (1, 0.05), (2, 0.1)]
    assert [(value["answers"], value["bound"]) for value in plot["data"]["values"]] == [(2, 0.1), (502, 0.2)]
    closed = leakage_budget([0.0] * 1000, 0.25, None)
    assert closed is not None and len(closed["data"]["values"]) == 1
    assert len(closed["layer"][1]["data"]["values"]) == POINTS + 1, "the curve of a long contest is short"


@pytest.mark.django_db
class TestMatrices:
    @pytest.fixture
    def crossed(self, db: None) -> World:
        """Seven systems; no unit is generated and supported."""
        world = build()
        cross(world)
        for index in range(7):
            best = index / 10
            cells = {
                ("original", "SUPPORTS"): best,
                ("generated", "REFUTES"): best / 2,
                ("generated", "SUPPORTS"): None,
            }
            stand(world, f"System {index}", crossed_scores(cells, whole=best))
        return world

    def test_each_system_has_the_numbers_and_shades_of_the_page_in_its_order(self, crossed: World) -> None:
        queries: list[dict[str, Any]] = [{}, {"scale": "board"}, {"sort": "system", "order": "asc"}]
        for query in queries:
            page = Client().get(ADDRESS, {"view": "matrices", **query})
            plot = spec("matrices", **query)
            cells = {(value["order"], value["line"], value["column"]): value for value in plot["data"]["values"]}
            for order, matrix in enumerate(page.context["matrices"], start=1):
                assert plot["params"][1]["value"][order - 1] == matrix.row.system
                for line, (_, heats) in enumerate(matrix.lines):
                    for column, heat in enumerate(heats):
                        cell = cells.pop((order, line, column))
                        assert cell["shade"] == (heat.shade or "none")
                        assert cell["is_margin"] == (line == 2 or column == 2)
            assert cells == {}
            assert f'data-plot="{PLOTS}/matrices/' in page.content.decode()

    def test_colours_are_those_of_the_stylesheet(self, crossed: World) -> None:
        scale = spec("matrices")["spec"]["layer"][0]["encoding"]["color"]["scale"]
        colours = dict(zip(scale["domain"], scale["range"], strict=True))
        assert len(SHADES) == 21 and {f"{kind}-{n}" for kind in ("heat", "warm") for n in (7, 8, 9, 10)} == DARK_SHADES
        assert len(colours) > 5
        assert {name: SHADES.get(name) for name in colours} == {**colours, "none": None}

    def test_text_of_users_and_gold_is_in_no_expression(self, crossed: World) -> None:
        System.objects.filter(name="System 1").update(name=HOSTILE)
        plot = spec("matrices")
        plot["params"], plot["data"] = [], {}
        assert HOSTILE not in json.dumps(plot) and json.dumps(HOSTILE)[1:-1] not in json.dumps(plot)

    def test_a_phase_that_crosses_nothing_has_none(self, crossed: World) -> None:
        Phase.objects.update(options={})
        assert Client().get(f"{PLOTS}/matrices/").status_code == 404
