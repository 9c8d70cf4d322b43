"""Costs on the board, on their own page, in the API and in the CSV; not mentioned where there are none."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Phase
from tests.support.api_calls import fixed_text
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
PICTURE = f"{BOARD}cost/"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
HOSTILE = "<script>alert(1)</script>"


def with_cost(seconds: float) -> dict[str, float]:
    return {"wall_seconds": seconds, "cpu_seconds": seconds / 2, "peak_memory_bytes": 5e7, "image_bytes": 1.2e8}


def built() -> World:
    """Three containers and an uploaded file."""
    new_world = build()
    stand(new_world, "Slow", symmetric_scores(0.9), spent=with_cost(1420.0))
    stand(new_world, "Quick", symmetric_scores(0.7), spent=with_cost(5.0))
    stand(new_world, HOSTILE, symmetric_scores(0.6), spent=with_cost(29.0), kind="baseline")
    stand(new_world, "Uploaded", symmetric_scores(0.8))
    return new_world


world, _django_db_helper = shared_states(world=built)


def text(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def order_of(markup: str, *names: str) -> list[str]:
    return sorted(names, key=markup[markup.index("<tbody>") :].index)


def content(**query: str) -> Any:
    return Client().get(f"{API}/", query).json()


@pytest.mark.parametrize("address", [BOARD, PICTURE, f"{PICTURE}?cost=image_mb", f"{PICTURE}?cost=gold"])
def test_pages_are_well_formed_and_names_are_text(world, address):
    markup = text(address)
    assert read(markup).faults == []
    assert HOSTILE not in markup and "&lt;script&gt;alert(1)&lt;/script&gt;" in markup


def test_a_board_has_costs_as_columns_with_the_number_of_inputs(world):
    markup = fixed_text(text(BOARD))
    assert "Seconds" in markup and "for 4 inputs" in markup
    # 2 ** 10.5, the smallest step that is not below 1420.
    assert "1,450" in markup and "1420" not in markup
    assert "uploaded as a file: what it took to make is not known" in markup


def test_a_board_sorts_by_cost_cheapest_first_and_uploads_last(world):
    names = ("Slow", "Quick", "Uploaded")
    assert order_of(text(f"{BOARD}?sort=wall_seconds"), *names) == ["Quick", "Slow", "Uploaded"]
    assert order_of(text(f"{BOARD}?sort=wall_seconds&order=desc"), *names) == ["Slow", "Quick", "Uploaded"]


def test_the_chart_has_only_containers_and_marks_the_front(world):
    markup = text(PICTURE)
    picture, rest = markup.split("</figure>")
    table, absent = rest.split("Not plotted")
    assert "Uploaded" not in picture and "Uploaded" not in table and "Uploaded" in absent
    assert order_of(table, "Quick", "Slow") == ["Quick", "Slow"]
    plot = Client().get(f"{API}/plots/cost/").json()["data"]["values"]
    assert [(value["system"], value["front"]) for value in plot] == [("Quick", True), (HOSTILE, False), ("Slow", True)]
    assert table.count("<td>yes</td>") == 2
    assert "style=" not in markup[markup.index("<main") :]


def test_the_chart_can_show_another_cost(world):
    assert "against <strong>image, mb</strong>" in text(f"{PICTURE}?cost=image_mb")


def test_the_chart_is_linked_where_there_is_one(world):
    assert PICTURE in text(BOARD) and PICTURE in text("/benchmarks/tiny/")


def test_without_costs_they_are_mentioned_nowhere():
    new_world = build()
    stand(new_world, "Uploaded")
    markup = text(BOARD)
    assert "Seconds" not in markup and PICTURE not in markup and "containers" not in markup
    assert Client().get(PICTURE).status_code == 404
    assert "wall_seconds" not in Client().get(f"{API}.csv").content.decode()
    assert Phase.objects.get() == new_world.phase


def test_the_api_shows_costs_and_why_there_is_none(world):
    board = content(sort="wall_seconds")
    assert board["n_inputs"] == 4
    rows = {row["system"]: row for row in board["rows"]}
    assert [row["system"] for row in board["rows"]] == ["Quick", HOSTILE, "Slow", "Uploaded"]
    assert rows["Quick"]["cost"] == {"wall_seconds": 5.66, "cpu_seconds": 2.83, "memory_mb": 64.0, "image_mb": 128.0}
    assert rows["Quick"]["no_cost"] == ""
    assert rows["Uploaded"]["cost"] is None and rows["Uploaded"]["no_cost"].startswith("uploaded as a file")
    assert [row["system"] for row in content(sort="-image_mb")["rows"]][-1] == "Uploaded"


def test_the_cost_of_gpus_has_columns_only_where_a_system_used_some(world):
    assert "GPU" not in text(BOARD) and "gpu_seconds" not in text(f"{API}.csv")
    spent = {**with_cost(60.0), "gpu_seconds": 40.0, "peak_gpu_memory_bytes": 5e9}
    stand(world, "Neural", symmetric_scores(0.95), spent=spent)
    markup = text(BOARD)
    assert "GPU seconds" in markup and "Peak GPU memory, MB" in markup and read(markup).faults == []
    rows = {row["system"]: row["cost"] for row in content(sort="gpu_seconds")["rows"]}
    assert next(iter(rows)) == "Neural", "rows without a value are last"
    assert (rows["Neural"]["gpu_seconds"], rows["Neural"]["gpu_memory_mb"]) == (45.3, 5790.0)
    assert "gpu_seconds" not in rows["Quick"]
    line, *_ = csv.DictReader(io.StringIO(text(f"{API}.csv?sort=gpu_seconds")))
    assert [*line][-2:] == ["gpu_seconds", "gpu_memory_mb"] and line["gpu_seconds"] == "45.3"
    assert read(text(f"{PICTURE}?cost=gpu_memory_mb")).faults == []


def test_the_csv_has_costs_last(world):
    lines = list(csv.DictReader(io.StringIO(Client().get(f"{API}.csv").content.decode())))
    assert list(lines[0])[-4:] == ["wall_seconds", "cpu_seconds", "memory_mb", "image_mb"]
    assert {line["system"]: line["wall_seconds"] for line in lines} == {
        "Slow": "1450.0",
        "Quick": "5.66",
        HOSTILE: "32.0",
        "Uploaded": "",
    }
