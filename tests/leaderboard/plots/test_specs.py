"""Plots as Vega-Lite specifications: their data, who sees them, and that Vega-Lite accepts them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Benchmark, Phase, System
from leaderboard.systems.actions import systems
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

PLOTS = "/api/v1/benchmarks/tiny/phases/test/leaderboard/plots"
HOSTILE = '<script>alert(1)</script>&"=cmd'


@pytest.fixture
def world(db: None) -> World:
    """Three competing systems and an annotator, who does not compete."""
    world = build()
    at = timezone.now() - timedelta(days=9)
    for days, (name, value) in enumerate((("First", 0.5), ("Worse", 0.4), (HOSTILE, 0.7))):
        stand(world, name, [score("accuracy", value)], at=at + timedelta(days=days))
    stand(world, "Human annotator", [score("accuracy", 0.9)], kind="organiser", at=at)
    return world


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
