"""Several measures at once on the values of one dimension, and correlations with two colours."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluator.tasks.registry import TASKS
from leaderboard.boards.web.pages import by_slice
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import replace_gold
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BY_SIDE = "/benchmarks/tiny/test/by/side/"
RANKING = [measure.name for measure in TASKS["link-prediction"].measures]
CORRELATIONS = [measure.name for measure in TASKS["metric-correlation"].measures]


def host(task: str, **dimensions: list[Any]) -> World:
    """The tiny world as a benchmark of another task, whose gold has these dimensions."""
    world = build()
    world.benchmark.task = world.split.dataset.task = task
    world.benchmark.save()
    world.split.dataset.save()
    names = [measure.name for measure in TASKS[task].measures]
    replace_gold(world, dimensions=dimensions, measures=names, primary=TASKS[task].primary())
    return world


def scores(measures: list[str], dimension: str, by_value: dict[str | None, float | None], n: int = 4) -> list[Any]:
    """Each measure with the same value; None: the whole."""
    return [
        score(measure, value, n if at is None else 2, **({} if at is None else {dimension: at}))
        for at, value in by_value.items()
        for measure in measures
    ]


@pytest.fixture
def links() -> World:
    world = host("link-prediction", side=["head", "tail"])
    stand(world, "First", scores(RANKING, "side", {None: 0.4, "head": 0.2, "tail": 0.6}), primary="mrr")
    stand(world, "Second", scores(RANKING, "side", {None: 0.3, "head": 0.5, "tail": 0.1}), primary="mrr")
    return world


def text(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def head_of(markup: str) -> str:
    return markup[markup.index("<thead>") : markup.index("</thead>")]


def test_few_values_open_with_all_measures_grouped_by_value(links):
    markup = text(BY_SIDE)
    assert read(markup).faults == []
    head = head_of(markup)
    assert [head.index(f"<bdi>{title}</bdi>") for title in ("All", "head", "tail")] == sorted(
        head.index(f"<bdi>{title}</bdi>") for title in ("All", "head", "tail")
    )
    assert head.count(f'colspan="{len(RANKING)}"') == 3
    for measure in TASKS["link-prediction"].measures:
        assert head.count(f">{measure.title}</span>") == 3
    assert [head.count(f"n {n}<") for n in (4, 2)] == [1, 2], "n once per group"
    body = markup[markup.index("<tbody>") : markup.index("</tbody>")]
    assert body.count("<td") == 2 * (1 + 3 * len(RANKING))
    assert 'title="interval 0.500 to 0.700, n 2"' in body


def test_every_measure_of_every_value_sorts(links):
    def first(markup: str) -> str:
        body = markup[markup.index("<tbody>") :]
        return min(("First", "Second"), key=body.index)

    assert first(text(BY_SIDE)) == "First"
    link = next(link for link in read(text(BY_SIDE)).links if "hits%4010%22%2C+%22head" in link)
    markup = text(BY_SIDE + link)
    assert first(markup) == "Second"
    assert read(markup).sorted_by == ["descending"]


def test_intervals_are_below_the_table_by_value(links):
    link = next(link for link in read(text(BY_SIDE)).links if "%22tail" in link)
    markup = text(BY_SIDE + link)
    details = markup[markup.index('id="details"') :]
    assert details.count("[0.500, 0.700]") == len(RANKING), "of the value that the table is sorted by"


def test_one_measure_is_selected_by_a_link_and_back(links):
    link = next(link for link in read(text(BY_SIDE)).links if "measure=hits%403" in link)
    markup = text(BY_SIDE + link)
    assert "All measures</a>" in markup
    assert 'class="board heat"' in markup
    assert ">hits@3<" not in head_of(markup)
    assert "heat grouped" in text(f"{BY_SIDE}?measure=all")


def test_a_large_table_has_no_tooltips_with_intervals(links, monkeypatch: pytest.MonkeyPatch):
    address = f"{BY_SIDE}?measure=mrr"
    cells = 2 * 3  # systems, columns
    for limit, count in ((cells, cells), (cells - 1, 0)):
        monkeypatch.setattr(by_slice, "MAX_TOOLTIPS", limit)
        assert text(address).count('title="interval ') == count
    stand(links, "Third", [score("mrr", 0.1), score("mrr", None, 0, side="head")], primary="mrr")
    assert text(address).count('title="no value: no gold units"') == 1, "the reason is always told"


def test_many_values_open_with_one_measure():
    many("side", 6)
    assert "heat grouped" not in text(BY_SIDE)
    assert "heat grouped" in text(f"{BY_SIDE}?measure=all")


def test_a_hundred_columns_are_not_shown_as_a_table():
    many("side", 20)
    assert "heat grouped" not in text(f"{BY_SIDE}?measure=all")
    assert "All measures" not in text(BY_SIDE)


def many(dimension: str, count: int) -> None:
    """A system scored on so many values."""
    values = [f"r{i}" for i in range(count)]
    world = host("link-prediction", **{dimension: values})
    stand(world, "First", scores(RANKING, dimension, dict.fromkeys([None, *values], 0.5)), primary="mrr")


def test_the_number_of_queries_is_constant(links):
    counts = []
    for count in (1, 30):
        for index in range(count):
            values = {None: 0.4, "head": 0.2, "tail": 0.6}
            stand(links, f"system {count} {index}", scores(RANKING, "side", values), primary="mrr")
        with CaptureQueriesContext(connection) as captured:
            text(BY_SIDE)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 8


def test_correlations_have_two_colours_and_a_reason_for_a_missing_value():
    world = host("metric-correlation", side=["actors", "random"])
    by_value = {None: 0.5, "actors": -0.3, "random": None}
    stand(world, "ROUGE", scores(CORRELATIONS, "side", by_value), primary="spearman")
    markup = text(BY_SIDE)
    assert read(markup).faults == []
    body = markup[markup.index("<tbody>") : markup.index("</tbody>")]
    assert body.count("num heat-5") == body.count("num warm-3") == len(CORRELATIONS)
    assert body.count('title="no value: all ratings or all scores are equal">–<') == len(CORRELATIONS)  # noqa: RUF001
    assert "– no value: all ratings or all scores are equal." in markup  # noqa: RUF001
    assert "−.300" in body  # noqa: RUF001
    legend = markup[markup.index('class="heat-legends"') : markup.index('class="table-scroll"')]
    assert legend.count("warm-") == 10
    assert legend.count('class="heat-end"') == 3


def test_a_dimension_says_what_its_slices_leave_out():
    world = host("fact-extraction", relation=["born in"])
    stand(world, "First", scores(["f1", "precision"], "relation", {None: 0.4, "born in": 0.2}), primary="f1")
    markup = text("/benchmarks/tiny/test/by/relation/")
    assert "Predicted facts of other relations count only in the overall score" in markup
    assert read(markup).faults == []
