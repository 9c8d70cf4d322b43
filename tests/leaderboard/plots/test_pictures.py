"""Static pictures of plots: rendered once a revision, and served only while they show what everybody sees."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Benchmark, Leaderboard, PlotPicture, PlotRendering, State, System
from leaderboard.plots.actions import pictures
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

SVG, PNG = (f"/benchmarks/tiny/test/plots/intervals.{suffix}" for suffix in ("svg", "png"))


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> World:
    settings.PLOT_PICTURES = True
    world = build()
    stand(world, "First", [score("accuracy", 0.5)])
    monkeypatch.setattr(pictures.WORK, "is_ready", lambda: True)
    return world


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The specifications of each rendering, which is not really made."""
    calls: list[dict[str, Any]] = []

    def rendered(wanted: dict[str, Any]) -> dict[str, tuple[str, bytes]]:
        calls.append(wanted)
        return {name: (f"<svg>{name}</svg>", b"png") for name in wanted}

    monkeypatch.setattr(pictures, "rendered", rendered)
    return calls


def render() -> None:
    """Do what the sweep and a worker do, a minute after the last rendering."""
    PlotRendering.objects.update(queued_at=timezone.now() - timedelta(minutes=2))
    pictures.WORK.before_sweep()
    for row in PlotRendering.objects.filter(state=State.QUEUED):
        pictures.WORK.run(row.pk)


@pytest.mark.django_db
class TestPictures:
    def test_a_picture_is_served_once_it_is_rendered(self, world: World, specs: list[dict[str, Any]]) -> None:
        assert Client().get(SVG).status_code == 404
        render()
        response = Client().get(SVG)
        assert response.content == b"<svg>intervals</svg>" and response["Content-Type"] == "image/svg+xml"
        assert "default-src 'none'" in response["Content-Security-Policy"]
        assert Client().get(PNG)["Content-Type"] == "image/png"
        assert Client().get(SVG, headers={"if-none-match": response["ETag"]}).status_code == 304
        assert SVG in Client().get("/benchmarks/tiny/test/").content.decode()

    def test_each_revision_is_rendered_once_and_only_what_changed(
        self, world: World, specs: list[dict[str, Any]]
    ) -> None:
        render()
        assert {"intervals", "progress"} <= specs[0].keys()
        render()
        assert len(specs) == 1 and PlotRendering.objects.get().state == State.DONE
        Leaderboard.objects.update(revision=1000)
        render()
        assert specs[1] == {} and PlotRendering.objects.get().revision == 1000
        stand(world, "Second", [score("accuracy", 0.7)])
        assert Client().get(SVG).status_code == 404, "the picture is out of date"
        render()
        assert "intervals" in specs[2] and Client().get(SVG).status_code == 200

    def test_a_board_is_not_rendered_twice_in_a_minute(self, world: World, specs: list[dict[str, Any]]) -> None:
        render()
        Leaderboard.objects.update(revision=1000)
        PlotRendering.objects.update(queued_at=timezone.now())
        pictures.WORK.before_sweep()
        assert PlotRendering.objects.count() == 1

    def test_a_name_that_becomes_hidden_is_not_in_any_picture(self, world: World, specs: list[dict[str, Any]]) -> None:
        """The board's revision need not change for it."""
        render()
        later = timezone.now() + timedelta(days=1)
        System.objects.filter(name="First").update(anonymous_number=7, anonymous_until=later)
        assert Client().get(SVG).status_code == 404
        member = Client()
        member.force_login(world.researcher)
        assert member.get(SVG).status_code == 404, "not for those who may see the name either: caches share pictures"

    def test_an_operator_may_turn_them_off(self, world: World, specs: list[dict[str, Any]], settings: Any) -> None:
        settings.PLOT_PICTURES = False
        render()
        assert specs == [] and not PlotRendering.objects.exists()
        assert SVG not in Client().get("/benchmarks/tiny/test/").content.decode()

    def test_drafts_are_neither_rendered_nor_served(self, world: World, specs: list[dict[str, Any]]) -> None:
        Benchmark.objects.update(state=Benchmark.State.DRAFT)
        render()
        assert specs == [] and not PlotPicture.objects.exists()
        Benchmark.objects.update(state=Benchmark.State.PUBLIC)
        render()
        Benchmark.objects.update(state=Benchmark.State.DRAFT)
        curator = Client()
        curator.force_login(world.curator)
        assert Client().get(SVG).status_code == curator.get(SVG).status_code == 404


@pytest.mark.django_db
def test_pictures_show_the_systems(world: World) -> None:
    System.objects.filter(name="First").update(name="A <b> & c")
    render()
    picture = PlotPicture.objects.get(plot="intervals")
    assert "A <b> & c" in "".join(ElementTree.fromstring(picture.svg).itertext())
    assert bytes(picture.png[:4]) == b"\x89PNG"
