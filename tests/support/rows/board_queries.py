"""What a board's query selects, computed row by row in Python, with which tests compare what the database selects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries import BoardQuery, Column, Row, in_order
from leaderboard.boards.queries.columns import SORTABLE
from leaderboard.boards.queries.facts import Fact
from leaderboard.boards.queries.facts import Value as FactValue


def applied(rows: Iterable[Row], query: BoardQuery) -> list[Row]:
    """Return the rows that pass a query's filters, sorted as it requests."""
    matches = [row for row in rows if _matches(query, row)]
    matches.sort(key=lambda row: (row.received_at, row.system_id))
    return in_order(matches, lambda row: _value(query.sort, row), descending=query.descending)


def _value(column: Column, row: Row) -> Any:
    if column.key is not None:
        return row.score(*column.key).value
    if column.fact is not None:
        value = row.facts.get(column.fact.name)
        return value.casefold() if isinstance(value, str) else value
    if column.name in costs.KINDS:
        return row.cost_of(column.name)
    value = SORTABLE[column.name].value(row)
    return value.casefold() if isinstance(value, str) else value


def _matches(query: BoardQuery, row: Row) -> bool:
    names = (row.system.casefold(), row.team.casefold())
    if not all(any(word.casefold() in name for name in names) for word in query.words):
        return False
    if query.kind not in ("", row.kind) or query.track not in ("", row.track):
        return False
    if not all(_has_fact(row, fact, answer) for fact, answer in query.facts):
        return False
    if query.by is None:
        return True
    value, (least, most) = _value(query.by, row), query.bounds
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def _has_fact(row: Row, fact: Fact, answer: FactValue) -> bool:
    value = row.facts.get(fact.name)
    if isinstance(answer, str):
        return isinstance(value, str) and answer.casefold() in value.casefold()
    return value == answer
