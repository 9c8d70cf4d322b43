"""The board of two dimensions: matrices, one table, leaders, and reported results."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Phase, ReportedResult, Split
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import ADDRESS, PAIR, cross, crossed_scores
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
HOSTILE = "<script>alert(1)</script>"
RIGHT_TO_LEFT = "نظام"
LONG = ("A system whose name is as long as names may be " * 5)[:200]
CELLS = [(a, b) for a in ("generated", "original") for b in ("REFUTES", "SUPPORTS")]
VIEWS = [f"{ADDRESS}?view={view}" for view in ("matrices", "table")]


def values(*accuracies: float | None) -> dict[tuple[str, str], float | None]:
    return dict(zip(CELLS, accuracies, strict=True))


def crossed() -> World:
    world = build()
    cross(world)
    return world


def populate(world: World) -> World:
    stand(world, "First", crossed_scores(values(0.9, 0.8, 0.7, 0.6), whole=0.8))
    stand(world, HOSTILE, crossed_scores(values(0.2, 0.95, 0.3, 0.6), whole=0.5), team="<b>bold</b>")
    stand(world, RIGHT_TO_LEFT, crossed_scores(values(0.1, None, 0.1, 0.1), whole=0.1))
    stand(world, LONG, crossed_scores({CELLS[0]: 0.4}, whole=0.4))
    stand(world, "Majority", crossed_scores(values(0.99, 0.99, 0.99, 0.99), whole=0.6), kind="baseline")
    stand(world, "Nothing", crossed_scores(values(None, None, None, None), whole=None))
    return world


world, populated, _django_db_helper = shared_states(world=crossed, populated=populate)


def get(address: str, client: Client | None = None) -> Any:
    return (client or Client()).get(address)


def text(address: str, client: Client | None = None) -> str:
    response = get(address, client)
    assert response.status_code == 200, address
    return response.content.decode()


def sort(*key: str | None) -> str:
    return urlencode({"sort": json.dumps(list(key))})


def systems(markup: str, *names: str) -> list[str]:
    """Names in the order of the list of matrices."""
    body = markup[markup.index('<ol class="multiples') :]
    return sorted(names, key=lambda name: body.index(f">{name}</span>"))


def section_between(markup: str, begin: str, end: str) -> str:
    markup = markup[markup.index(begin) :]
    return markup[: markup.index(end)]


def matrix_of(markup: str, name: str) -> str:
    return section_between(markup, f'dir="auto">{name}</span></h3>', "</table>")


# --- pages


@pytest.mark.parametrize("address", [*VIEWS, f"{VIEWS[0]}&{sort('generated', 'SUPPORTS')}"])
def test_both_views_are_well_formed_and_within_the_csp(populated, address):
    response = get(address)
    assert read(response.content.decode()).faults == []
    assert "unsafe" not in response["Content-Security-Policy"]


def test_without_systems_the_page_says_so(world):
    markup = text(ADDRESS)
    assert read(markup).faults == []
    assert "No system has been scored in this phase yet." in markup


@pytest.mark.parametrize("view", VIEWS)
def test_one_system_is_a_board(world, view):
    stand(world, "Alone", crossed_scores(values(0.1, 0.2, 0.3, 0.4)))
    markup = text(view)
    assert read(markup).faults == []
    assert markup.count(" best</span>") == 9, "four cells, four margins and the whole"


def test_on_a_ladder_leaders_and_matrices_show_bounds(world):
    stand(world, "Engine", crossed_scores(values(0.54772, 0.54772, 0.54772, 0.54772), whole=0.54772))
    Phase.objects.update(disclosure="ladder")
    assert text(VIEWS[0]).count('<span class="value">≥.547</span>') == 9, "four cells, four margins and the whole"
    picture = Client().get("/api/v1/benchmarks/tiny/phases/test/leaderboard/plots/matrices/").json()
    assert [value["text"] for value in picture["data"]["values"]] == ["≥.54"] * 9


@pytest.mark.parametrize("view", VIEWS)
def test_twenty_systems_take_the_queries_of_two(world, view):
    counts = []
    for count in (2, 18):
        for index in range(count):
            stand(world, f"system {count} {index}", crossed_scores(values(0.1, 0.2, 0.3, 0.4)))
        with CaptureQueriesContext(connection) as captured:
            markup = text(view)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 8
    assert read(markup).faults == []
    assert markup.count("system 18 7") >= 2


@pytest.mark.parametrize("view", VIEWS)
def test_markup_in_names_is_escaped(populated, view):
    markup = text(view)
    assert HOSTILE not in markup
    assert "<b>bold</b>" not in markup
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markup
    assert f'dir="auto">{RIGHT_TO_LEFT}<' in markup
    assert LONG in markup


@pytest.mark.parametrize("view", ["matrices", "table"])
def test_markup_in_values_of_dimensions_is_escaped(world, view):
    strange = [HOSTILE, RIGHT_TO_LEFT, "x" * 200]
    cross(world, origin=strange, label=["a&b", "c/d"])
    stand(world, "Engine", crossed_scores({(a, b): 0.5 for a in strange for b in ("a&b", "c/d")}))
    markup = text(f"{ADDRESS}?view={view}&{sort(HOSTILE, 'a&b')}")
    assert HOSTILE not in markup
    assert read(markup).faults == []
    assert f"<bdi>{RIGHT_TO_LEFT}</bdi>" in markup
    selected = section_between(markup, '<h2 id="selected">', "</h2>")
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in selected
    assert "<bdi>a&amp;b</bdi>" in selected


def test_names_of_dimensions_may_hold_slashes(world):
    cross(world, ("a/b", "c"), **{"a/b": ["x"], "c": ["y"]})
    stand(world, "Engine", crossed_scores({("x", "y"): 0.25}, pair=("a/b", "c")))
    link = next(link for link in read(text(BOARD)).links if "/two-way/" in link)
    assert ".25" in matrix_of(text(f"{link}?view=matrices"), "Engine")


# --- links and visibility


def test_the_board_links_to_it_with_its_dimensions(populated):
    for address in (BOARD, "/benchmarks/tiny/"):
        assert f'<a href="{ADDRESS}" dir="auto">By origin and label</a>' in text(address)


@pytest.mark.parametrize(
    "pair", ["label/origin", "origin", "origin/weather", "origin/label/more", "%00/label", "//", "a/" * 99]
)
def test_another_pair_is_a_404(populated, pair):
    assert get(f"/benchmarks/tiny/test/two-way/{pair}/").status_code == 404


@pytest.mark.parametrize("options", [{}, {"cross": ""}, {"cross": "origin,weather"}, {"cross": "nonsense"}])
def test_a_phase_without_crossed_dimensions_has_no_such_page(populated, options):
    Phase.objects.update(options=options)
    assert get(ADDRESS).status_code == 404
    assert "/two-way/" not in text(BOARD)


def test_the_option_of_the_split_works_too(populated):
    Phase.objects.update(options={})
    Split.objects.update(options={"cross": "origin,label"})
    assert get(ADDRESS).status_code == 200


# --- matrices


def test_each_cell_has_its_value_interval_n_and_shade(populated):
    matrix = matrix_of(text(VIEWS[0]), "First")
    cell = '<td class="num heat-9" title="0.900, interval 0.800 to 1.000, n 1">.90'
    assert cell in matrix.replace(" best", "")
    assert matrix.count("<td class=") == 9 + 1, "the cells with their margins, and the name of the outer dimension"


def test_the_best_of_each_cell_is_a_competing_system(populated):
    markup = text(VIEWS[0])
    assert matrix_of(markup, "First").count(" best</span>") == 3 + 5, "three cells, the margins and the whole"
    assert matrix_of(markup, "&lt;script&gt;alert(1)&lt;/script&gt;").count(" best</span>") == 2
    assert "best" not in matrix_of(markup, "Majority")


def test_a_missing_cell_and_one_without_a_value_give_the_reason(populated):
    markup = text(VIEWS[0])
    long = matrix_of(markup, LONG)
    assert long.count('title="no value: not scored">–</td>') == 3 + 2, "three cells and two margins"  # noqa: RUF001
    assert "– no value" in markup  # noqa: RUF001
    assert "not scored" in section_between(markup, "– no value", "</p>")  # noqa: RUF001


def test_cells_without_gold_units_are_not_links(world):
    stand(world, "Engine", crossed_scores({CELLS[0]: 0.5}))
    leaders = section_between(text(VIEWS[0]), '<h2 id="leaders">', "</table>")
    assert leaders.count('title="no gold units"') == 3 + 2
    assert leaders.count("<a ") == 1 + 3


def test_each_cell_names_its_leader_and_n(populated):
    leaders = section_between(text(VIEWS[0]), '<h2 id="leaders">', "</table>")
    first, second = leaders.split("<tr>")[2].split("<td")[2:4]
    assert ".900" in first and "First" in first and "n 1" in first
    assert ".950" in second and "&lt;script&gt;" in second
    assert "+1 tied" in leaders, "the last cell"


def test_a_cell_orders_the_systems_and_shows_its_intervals(populated):
    names = ["First", "&lt;script&gt;alert(1)&lt;/script&gt;", "Majority"]
    assert systems(text(VIEWS[0]), *names) == [names[0], names[2], names[1]]
    markup = text(f"{VIEWS[0]}&{sort('generated', 'SUPPORTS')}")
    assert systems(markup, *names) == [names[2], names[1], names[0]]
    assert markup.count('aria-current="true"') == 4, "the measure, the view, the colours and the cell"
    selected = markup[markup.index('id="selected"') :]
    assert "<bdi>origin</bdi> <bdi>generated</bdi>, <bdi>label</bdi> <bdi>SUPPORTS</bdi>" in selected
    assert "[0.850, 1.000]" in selected
    assert "band" not in selected, "the leader of the whole board leads no cell here"
    by_name = text(f"{VIEWS[0]}&sort=system&order=asc")
    assert systems(by_name, "First", "Majority", "Nothing") == ["First", "Majority", "Nothing"]


@pytest.mark.parametrize("query", ["sort=%5B%5D", "sort=%00", "sort=" + 900 * "a", "view=3d", "measure=beauty"])
def test_an_invalid_query_gives_the_default_page(populated, query):
    assert '<h2 id="selected">Overall' in text(f"{ADDRESS}?{query}")


def test_the_margin_is_explained(populated):
    markup = text(ADDRESS)
    assert "Accuracy over the pooled units of a row or column, not the mean of its cells." in markup
    assert "Pooling compares scores" not in markup, "accuracy compares no scores, so there is no explanation"


# --- one table


def test_the_table_is_grouped_by_the_outer_dimension_and_sorts(populated):
    markup = text(VIEWS[1])
    head = section_between(markup, '<table class="board heat grouped">', "</thead>")
    assert [head.count(f"<bdi>{title}</bdi>") for title in ("all", "generated", "original")] == [1, 1, 1]
    assert head.count('colspan="3"') == 3
    assert read(markup).sorted_by == ["descending"]
    link = next(link for link in read(markup).links if urlencode({"sort": '["original", "REFUTES"]'}) in link)
    table = text(ADDRESS + link)
    body = table[table.index("<tbody>") :]
    assert sorted(["First", "Majority", "&lt;script"], key=body.index) == ["Majority", "First", "&lt;script"]
    assert read(table).sorted_by == ["descending"]


@pytest.mark.parametrize(
    ("labels", "mark"),
    [
        ([1, 2], 'class="multiples'),
        (["1", "2.5"], 'class="multiples'),
        ([True, False], "heat grouped"),
        (["a", 1], "heat grouped"),
    ],
)
def test_numbers_open_as_matrices_and_words_as_a_table(world, labels, mark):
    cross(world, origin=[0.0, 0.5], label=labels)
    stand(world, "Engine", crossed_scores({("0.0", str(labels[0])): 0.5}))
    assert mark in text(ADDRESS)


# --- reported


def test_reported_results_have_the_same_layout(populated):
    def reported(system: str, **shown: str) -> None:
        slices = [
            dict(zip(PAIR, (a, b), strict=True)) for a in ("original", "generated") for b in ("SUPPORTS", "REFUTES")
        ]
        ReportedResult.objects.create(
            benchmark=populated.benchmark,
            system=system,
            paper="A paper",
            table="Table 5",
            split="another set",
            values=[
                {"measure": "accuracy", "slice": slice_, "value": 0.5, "shown": shown["shown"]} for slice_ in slices
            ]
            + [{"measure": "accuracy", "slice": {}, "value": 0.86, "shown": "86.0"}],
        )

    reported("KL", shown=".87")
    markup = text(ADDRESS)
    below = markup[markup.index("Reported in papers") :]
    assert below.count(">.87<") == 4
    assert "86.0" not in below
    assert below.index("original") < below.index("generated"), "in the order of the paper"
    assert "another split" in below
    assert read(markup).faults == []
    by_label = text(f"{BOARD}by/label/")
    assert by_label.count(">.87<") == 4
    assert read(by_label).faults == []
