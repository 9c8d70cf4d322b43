"""Progress over time and significance: what plots, tables and files show, and to whom."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.comparisons.queries.pairs import indistinguishable_groups
from leaderboard.models import Phase, ReportedResult, System
from leaderboard.systems.actions import systems
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build
from tests.support.rows.wide_phase import build_wide, enter, rank_all, score_all

PROGRESS, APART = "/benchmarks/tiny/test/progress/", "/benchmarks/tiny/test/significance/"
PLOTS = "/api/v1/benchmarks/tiny/phases/test/leaderboard/plots"
HOSTILE = '<script>alert(1)</script>&"=cmd'


@pytest.fixture
def world(db: None) -> World:
    """Three systems in order; the second is worse than the first, and an annotator does not compete."""
    world = build()
    at = timezone.now() - timedelta(days=9)
    for days, (name, value) in enumerate((("First", 0.5), ("Worse", 0.4), ("Second", 0.7))):
        stand(world, name, [score("accuracy", value)], at=at + timedelta(days=days))
    stand(world, "Human annotator", [score("accuracy", 0.9)], kind="organiser", at=at)
    ReportedResult.objects.create(
        benchmark=world.benchmark,
        system="ESIM",
        paper="Schuster et al. 2019",
        split="FEVER dev",
        values=[{"measure": "accuracy", "slice": {}, "value": 0.6, "shown": "60.0"}],
    )
    return world


def page_text(address: str, **query: Any) -> str:
    response = Client().get(address, query)
    assert response.status_code == 200
    return response.content.decode()


def plot(name: str) -> dict[str, Any]:
    response = Client().get(f"{PLOTS}/{name}/")
    assert response.status_code == 200
    return response.json()


def lines(address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page_text(address, download="csv"))))


@pytest.mark.django_db
class TestProgress:
    def test_only_improvements_are_steps(self, world: World) -> None:
        response = Client().get(PROGRESS)
        assert [moment.name for _, moment in response.context["best_so_far"]] == ["First", "Second"]
        values = plot("progress")["data"]["values"]
        assert [(value["system"], value["value"]) for value in values] == [("First", 0.5), ("Second", 0.7)]
        assert values[0]["received"] < values[1]["received"]

    def test_results_of_papers_and_people_are_reference_lines(self, world: World) -> None:
        levels = Client().get(PROGRESS).context["levels"]
        assert [(level.name, level.value, level.is_human) for level in levels] == [
            ("Human annotator", 0.9, True),
            ("ESIM (another split)", 0.6, False),
        ]
        references = plot("progress")["layer"][0]["data"]["values"]
        assert [(value["name"], value["is_human"]) for value in references] == [
            ("Human annotator", True),
            ("ESIM (another split)", False),
        ]

    def test_the_table_is_available_as_csv(self, world: World) -> None:
        rows = lines(PROGRESS)
        assert [(row["kind"], row["name"], float(row["value"])) for row in rows] == [
            ("best so far", "First", 0.5),
            ("best so far", "Second", 0.7),
            ("reference", "Human annotator", 0.9),
            ("reference", "ESIM (another split)", 0.6),
        ]

    def test_markup_in_names_is_escaped_in_every_format(self, world: World) -> None:
        System.objects.filter(name="Second").update(name=HOSTILE)
        assert "<script>alert" not in page_text(PROGRESS)
        System.objects.filter(name=HOSTILE).update(name="=cmd|x")
        assert "'=cmd|x" in page_text(PROGRESS, download="csv")

    def test_a_disqualified_system_is_no_step(self, world: World) -> None:
        second = System.objects.get(name="Second")
        systems.disqualify(phase=world.phase, system=second, reason="two accounts", by=world.curator)
        assert "Second" not in page_text(PROGRESS) and "Second" not in json.dumps(plot("progress"))

    def test_an_anonymous_system_is_a_step_under_its_number(self, world: World) -> None:
        System.objects.filter(name="Second").update(
            anonymous_number=7, anonymous_until=timezone.now() + timedelta(days=1)
        )
        assert "Second" not in json.dumps(plot("progress")) and "Anonymous 7" in json.dumps(plot("progress"))
        for query in ({}, {"download": "csv"}):
            assert "Second" not in page_text(PROGRESS, **query) and "Anonymous 7" in page_text(PROGRESS, **query)

    def test_without_a_score_there_is_no_chart(self, db: None) -> None:
        build()
        assert "No scores yet." in page_text(PROGRESS)
        assert Client().get(f"{PLOTS}/progress/").status_code == 404


@pytest.mark.django_db(transaction=True)
class TestSignificance:
    @pytest.fixture
    def compared(self, transactional_db: None, sandbox: str) -> World:
        """Two systems that do not differ significantly, and a third that differs from both."""
        world = build_wide()
        for name, wrong in (("Best", 0), ("Good", 1), ("Half", 25)):
            enter(world, name, wrong)
        score_all()
        return world

    def test_a_bar_joins_systems_that_do_not_differ_significantly(self, compared: World) -> None:
        assert "Comparing all pairs" in page_text(APART)
        rank_all(compared)
        response = Client().get(APART)
        plotted = Client().get(PLOTS.replace("tiny", compared.benchmark.slug) + "/significance/").json()
        assert [value["label"] for value in plotted["data"]["values"]] == ["1. Best", "2. Good", "3. Half"]
        bars = plotted["layer"][-1]["data"]["values"]
        assert bars == [{"top": 1, "bottom": 2, "column": 0, "systems": "Best, Good"}]
        rows = {row.system: re.findall("<bdi>(.*?)</bdi>", others) for row, _, others in response.context["rows"]}
        assert rows == {"Best": ["Good"], "Good": ["Best"], "Half": []}
        pairs = {(row["a"], row["b"]): row["significant"] for row in lines(APART)}
        assert pairs == {("Best", "Good"): "no", ("Best", "Half"): "yes", ("Good", "Half"): "yes"}

    def test_a_ladder_reveals_no_significance(self, compared: World) -> None:
        rank_all(compared)
        Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
        assert "does not show comparisons" in page_text(APART)
        assert lines(APART) == []


class TestGroups:
    """Systems as numbers, which differ significantly if they are further apart than a limit."""

    @pytest.mark.parametrize(
        ("numbers", "limit", "expected"),
        [
            ([1, 2, 3], 0, []),
            ([1, 2, 3], 9, [[1, 2, 3]]),
            ([1, 2, 3, 4], 1, [[1, 2], [2, 3], [3, 4]]),
            ([1, 2, 3, 9, 10], 2, [[1, 2, 3], [9, 10]]),
            ([1, 2, 4, 5], 3, [[1, 2, 4], [2, 4, 5]]),
            ([], 1, []),
        ],
    )
    def test_groups_are_maximal_and_none_contains_another(
        self, numbers: list[int], limit: int, expected: list[list[int]]
    ) -> None:
        groups = indistinguishable_groups(numbers, lambda a, other: abs(a - other) > limit)  # type: ignore[arg-type, operator]
        assert [list(group) for group in groups] == expected
