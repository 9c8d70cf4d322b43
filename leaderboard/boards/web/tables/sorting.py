"""Sorting of tables by links: the order that the query string requests, and the link of each column's heading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from leaderboard.boards.queries import Row, in_order

Value = Callable[[Row], float | str | None]


@dataclass(frozen=True)
class Key:
    """A sort key of a table. best_first: True if a first click on the heading sorts in descending order."""

    value: Value
    best_first: bool = True


@dataclass(frozen=True)
class Heading:
    """A column heading: its sort key, its `aria-sort` state, and the `sort` and `order` parameters of its link."""

    key: str
    aria_sort: str
    sort: str
    order: str

    @property
    def arrow(self) -> str:
        return {"ascending": "▲", "descending": "▼"}.get(self.aria_sort, "")


@dataclass(frozen=True)
class Sorting:
    """The order that the query string requests: `?sort=KEY&order=asc|desc`."""

    keys: Mapping[str, Key]
    key: str
    descending: bool

    @classmethod
    def from_request(cls, request: HttpRequest, keys: Mapping[str, Key], default: str) -> Sorting:
        """Return the order that the query string requests.

        keys: the sort keys of the table's columns, by their names in the query string. default: the name that is used
        for an unknown one. Without a valid `order`, the key's `best_first` decides.
        """
        key = request.GET.get("sort", default)
        if key not in keys:
            key = default
        order = request.GET.get("order")
        descending = order == "desc" if order in ("asc", "desc") else keys[key].best_first
        return cls(keys, key, descending)

    def apply(self, rows: Sequence[Row]) -> list[Row]:
        return in_order(rows, self.keys[self.key].value, descending=self.descending)

    @property
    def headings(self) -> dict[str, Heading]:
        return {name: self._heading(name, key) for name, key in self.keys.items()}

    def _heading(self, name: str, key: Key) -> Heading:
        active = name == self.key
        # A click on the active column reverses the order.
        descending = not self.descending if active else key.best_first
        state = ("descending" if self.descending else "ascending") if active else "none"
        return Heading(name, state, name, "desc" if descending else "asc")


def by_name(row: Row) -> str:
    return row.system.casefold()
