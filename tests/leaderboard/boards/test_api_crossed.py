"""The matrix of two dimensions in the API."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import cross, crossed_scores

pytestmark = pytest.mark.django_db
BOARD = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard"
NUMBERS = [2, 10]
"""As text "10" sorts before "2"."""


def built() -> World:
    world = build()
    cross(world, origin=["generated", "original"], label=NUMBERS)
    values = {(a, str(b)): 0.25 for a in ("generated", "original") for b in NUMBERS}
    stand(world, "First", crossed_scores({**values, ("original", "10"): None}, whole=0.75))
    stand(world, "Second", crossed_scores({("original", "10"): 0.5, ("original", "2"): 0.125}, whole=0.5))
    return world


world, _django_db_helper = shared_states(world=built)


def board(query: str) -> dict[str, Any]:
    answer = Client().get(f"{BOARD}/?{query}")
    assert answer.status_code == 200, answer.content
    content: dict[str, Any] = answer.json()
    return content


def test_a_client_can_list_the_crossed_dimensions(world):
    assert board("")["crossed"] == ["origin", "label"]
    cross(world, ("origin", "weather"))
    assert board("")["crossed"] is None


def test_naming_both_dimensions_gives_the_matrix_with_its_margins(world):
    rows = board("measure=accuracy&slices=origin,label")["rows"]
    assert [part["slice"] for part in rows[0]["scores"]] == [
        {},
        {"label": "2"},
        {"label": "10"},
        {"origin": "generated"},
        {"origin": "original"},
        {"label": "2", "origin": "generated"},
        {"label": "2", "origin": "original"},
        {"label": "10", "origin": "generated"},
        {"label": "10", "origin": "original"},
    ], "the task's own dimension first, values in the gold's order"
    last = rows[0]["scores"][-1]
    assert (last["value"], last["low"], last["high"], last["n"]) == (None, None, None, 1)
    scores = [part for part in rows[1]["scores"] if len(part["slice"]) == 2]
    assert [part["value"] for part in scores] == [0.125, 0.5], "slices without a score are left out"


@pytest.mark.parametrize("slices", ["origin", "label", ""])
def test_one_dimension_gives_no_pairs(world, slices):
    rows = board(f"slices={slices}")["rows"]
    assert all(len(part["slice"]) < 2 for row in rows for part in row["scores"])


def test_a_slice_of_the_matrix_can_be_sorted_by(world):
    names = [row["system"] for row in board("sort=accuracy[label=10,origin=original]")["rows"]]
    assert names == ["Second", "First"]


def test_the_matrix_is_available_as_csv(world):
    answer = Client().get(f"{BOARD}.csv?measure=accuracy&slices=origin,label")
    head, *lines = csv.reader(io.StringIO(answer.content.decode()))
    column = head.index("accuracy[label=10,origin=original]")
    assert [line[column : column + 4] for line in lines] == [["", "", "", "1"], ["0.5", "0.4", "0.6", "1"]]


def test_names_of_maximum_length_can_be_requested():
    world = build()
    pair = ("a" * 200, "b" * 200)
    cross(world, pair, **{pair[0]: ["x"], pair[1]: ["y"]})
    stand(world, "First", crossed_scores({("x", "y"): 0.25}, pair=pair))
    rows = board(f"measure=accuracy&slices={','.join(pair)}")["rows"]
    assert [part["value"] for part in rows[0]["scores"] if len(part["slice"]) == 2] == [0.25]
