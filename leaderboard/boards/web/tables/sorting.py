"""Sorting by links: what the address asks for, and what each column's heading offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from leaderboard.boards.queries import Row, in_order

Value = Callable[[Row], float | str | None]


@dataclass(frozen=True)
class Key:
    """One thing to sort by. `best_first`: the direction of a first click is from high to low."""

    value: Value
    best_first: bool = True


@dataclass(frozen=True)
class Heading:
    """What a column's heading needs: its sort key, whether it is in force, and where a click leads."""

    key: str
    aria_sort: str
    sort: str
    order: str

    @property
    def arrow(self) -> str:
        return {"ascending": "▲", "descending": "▼"}.get(self.aria_sort, "")


@dataclass(frozen=True)
class Sorting:
    """The order that an address asks for: `?sort=KEY&order=asc|desc`."""

    keys: Mapping[str, Key]
    key: str
    descending: bool

    @classmethod
    def asked(cls, request: HttpRequest, keys: Mapping[str, Key], default: str) -> Sorting:
        """What the query names; an unknown key or order falls back to the default."""
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
        # A second click on the column in force turns it round.
        descending = not self.descending if active else key.best_first
        state = ("descending" if self.descending else "ascending") if active else "none"
        return Heading(name, state, name, "desc" if descending else "asc")


def by_name(row: Row) -> str:
    return row.system.casefold()


def by_date(row: Row) -> float:
    return row.received_at.timestamp()
