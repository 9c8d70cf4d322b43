"""Sorting by links."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from django.test import RequestFactory

from leaderboard.boards.queries import WHOLE, Row, ShownScore, in_order
from leaderboard.boards.web.tables.sorting import Key, Sorting, by_name


def row(name: str, value: float | None) -> Row:
    return Row(
        rank=None,
        tied=False,
        system=name,
        team="t",
        kind="participant",
        description="",
        paper_url="",
        code_url="",
        system_id=0,
        submission_id=uuid.UUID(int=0),
        received_at=datetime(2026, 1, 1, tzinfo=UTC),
        released_at=datetime(2026, 1, 1, tzinfo=UTC),
        warnings=[],
        scores={("f1", WHOLE): ShownScore(value)},
    )


ROWS = [row("b", 0.5), row("none", None), row("A", 0.7), row("c", 0.5)]
KEYS = {"f1": Key(lambda r: r.score("f1").value), "system": Key(by_name, best_first=False)}


def sorted_by(query: str) -> Sorting:
    return Sorting.from_request(RequestFactory().get(f"/?{query}"), KEYS, "f1")


def names(query: str) -> list[str]:
    return [r.system for r in sorted_by(query).apply(ROWS)]


def test_rows_without_a_value_come_last_in_both_directions_and_ties_are_stable():
    assert names("") == ["A", "b", "c", "none"]
    assert names("sort=f1&order=asc") == ["b", "c", "A", "none"]


def test_names_sort_without_case():
    assert names("sort=system") == ["A", "b", "c", "none"]
    assert names("sort=system&order=desc") == ["none", "c", "b", "A"]


def test_an_unknown_key_or_order_falls_back():
    assert names("sort=nope&order=sideways") == names("")


def test_the_heading_of_the_current_order_offers_the_other_direction():
    heading = sorted_by("sort=f1&order=desc").headings["f1"]
    assert (heading.aria_sort, heading.order) == ("descending", "asc")
    assert sorted_by("sort=f1&order=asc").headings["f1"].order == "desc"


def test_other_headings_offer_their_best_first():
    headings = sorted_by("sort=f1").headings
    assert (headings["system"].aria_sort, headings["system"].order) == ("none", "asc")
    assert sorted_by("sort=system").headings["f1"].order == "desc"


def test_scores_that_were_not_revealed_have_no_value():
    assert row("x", 0.5).score("f1", (("property", "CEO"),)).value is None
    assert in_order([], lambda r: r.score("f1").value, descending=True) == []
