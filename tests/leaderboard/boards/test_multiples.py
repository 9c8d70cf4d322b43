"""The matrices of two dimensions as one picture to take away: every system, one scale of colours, names as text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from django.test import Client

from leaderboard.models import System
from tests.support.board_rows import stand
from tests.support.tiny_world import World, build
from tests.support.two_way_phase import PAIR, cross, crossed_scores

SVG = "{http://www.w3.org/2000/svg}"
ADDRESS = f"/benchmarks/tiny/test/cross/{'/'.join(PAIR)}/"


@pytest.fixture
def world(db: None) -> World:
    world = build()
    cross(world)
    return world


def values(best: float) -> dict[tuple[str, str], float | None]:
    """Of two cells; a third has no unit."""
    return {("original", "SUPPORTS"): best, ("generated", "REFUTES"): best / 2, ("generated", "SUPPORTS"): None}


def picture(**query: str) -> ElementTree.Element:
    response = Client().get(ADDRESS, {"download": "svg", "view": "matrices", **query})
    assert response.status_code == 200 and response["Content-Type"].startswith("image/svg+xml")
    assert response["Content-Disposition"] == 'attachment; filename="tiny-test-matrices.svg"'
    return ElementTree.fromstring(response.content)


def test_each_system_has_its_map_with_the_numbers_and_shades_of_the_page(world: World) -> None:
    for place in range(7):
        stand(world, f"System {place}", crossed_scores(values(place / 10)))
    page = Client().get(ADDRESS, {"view": "matrices"})
    drawn = page.context["matrices"]
    root = picture()
    maps = [one for one in root.iter(f"{SVG}svg") if one is not root]
    assert len(maps) == len(drawn) == 7
    places = {(one.get("x"), one.get("y")) for one in maps}
    assert len(places) == 7, "no map covers another"
    for one, matrix in zip(maps, drawn, strict=True):
        cells = [cell for _, line in matrix.lines for cell in line]
        shades = [(rect.get("class") or "").split()[0] for rect in one.iter(f"{SVG}rect")]
        assert shades == [cell.shade or "none" for cell in cells]
        numbers = [text.text for text in one.iter(f"{SVG}text") if (text.get("class") or "").startswith("value")]
        assert len(numbers) == len(cells) and len(set(numbers)) > 1
    assert f"download={'svg'}" in page.content.decode()


def test_names_and_values_are_text(world: World) -> None:
    stand(world, "One", crossed_scores(values(0.5)))
    System.objects.filter(name="One").update(name='<script>"&')
    texts = "".join(picture().itertext())
    assert '<script>"&' in texts


def test_a_table_has_no_picture(world: World) -> None:
    stand(world, "One", crossed_scores(values(0.5)))
    response = Client().get(ADDRESS, {"download": "svg", "view": "table"})
    assert response["Content-Type"].startswith("text/html")
