"""The matrices of two dimensions as one SVG file: every system, one colour scale, names as text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from django.test import Client

from leaderboard.models import System
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import PAIR, cross, crossed_scores

SVG = "{http://www.w3.org/2000/svg}"
ADDRESS = f"/benchmarks/tiny/test/two-way/{'/'.join(PAIR)}/"


@pytest.fixture
def world(db: None) -> World:
    world = build()
    cross(world)
    return world


def values(best: float) -> dict[tuple[str, str], float | None]:
    """Of two slices; a third has no unit."""
    return {("original", "SUPPORTS"): best, ("generated", "REFUTES"): best / 2, ("generated", "SUPPORTS"): None}


def picture(**query: str) -> ElementTree.Element:
    response = Client().get(ADDRESS, {"download": "svg", "view": "matrices", **query})
    assert response.status_code == 200 and response["Content-Type"].startswith("image/svg+xml")
    assert response["Content-Disposition"] == 'attachment; filename="tiny-test-matrices.svg"'
    return ElementTree.fromstring(response.content)


def test_each_system_has_a_map_with_the_numbers_and_shades_of_the_page(world: World) -> None:
    for index in range(7):
        stand(world, f"System {index}", crossed_scores(values(index / 10)))
    page = Client().get(ADDRESS, {"view": "matrices"})
    matrices = page.context["matrices"]
    root = picture()
    maps = [svg_map for svg_map in root.iter(f"{SVG}svg") if svg_map is not root]
    assert len(maps) == len(matrices) == 7
    positions = {(svg_map.get("x"), svg_map.get("y")) for svg_map in maps}
    assert len(positions) == 7, "no map covers another"
    for svg_map, matrix in zip(maps, matrices, strict=True):
        cells = [cell for _, line in matrix.lines for cell in line]
        shades = [(rect.get("class") or "").split()[0] for rect in svg_map.iter(f"{SVG}rect")]
        assert shades == [cell.shade or "none" for cell in cells]
        numbers = [text.text for text in svg_map.iter(f"{SVG}text") if (text.get("class") or "").startswith("value")]
        assert len(numbers) == len(cells) and len(set(numbers)) > 1
    assert f"download={'svg'}" in page.content.decode()


def test_markup_in_names_and_values_is_escaped(world: World) -> None:
    stand(world, "One", crossed_scores(values(0.5)))
    System.objects.filter(name="One").update(name='<script>"&')
    texts = "".join(picture().itertext())
    assert '<script>"&' in texts


def test_the_table_view_has_no_picture(world: World) -> None:
    stand(world, "One", crossed_scores(values(0.5)))
    response = Client().get(ADDRESS, {"download": "svg", "view": "table"})
    assert response["Content-Type"].startswith("text/html")
