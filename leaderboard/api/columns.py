"""Which columns of a board a request asks for, and in which order its rows."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ValidationError

from leaderboard import costs, standings
from leaderboard.standings import WHOLE, Board, Key, Row, Slice

ALL = "all"
PLAIN = ("rank", "system", "team", "received_at", "released_at")


def label(key: Key) -> str:
    """A column's name: `link_f1`, or `link_f1[property=CEO]`."""
    measure, slice_ = key
    return measure + (f"[{','.join(f'{name}={value}' for name, value in slice_)}]" if slice_ else "")


def needed(*, slices: list[str], sort: str) -> list[str] | None:
    """The dimensions whose slices have to be read for this; None: all of them."""
    return None if ALL in slices or "[" in sort else slices


def chosen(board: Board, *, measures: list[str], slices: list[str]) -> list[Key]:
    """The columns that are asked for, the primary measure first, the whole before slices. Raises ValidationError."""
    known = [measure.name for measure in board.measures]
    _check("measure", measures, known)
    _check("slices", slices, [ALL, *board.dimensions])
    names = [name for name in known if not measures or name in measures]
    dimensions = set(board.dimensions) if ALL in slices else set(slices)
    return [(name, slice_) for slice_ in _slices(board, dimensions) for name in names if _exists(board, name, slice_)]


def _check(parameter: str, given: list[str], known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise ValidationError({parameter: f'"{name}" is unknown here, expected one of: {", ".join(known)}.'})


def _slices(board: Board, dimensions: set[str]) -> list[Slice]:
    """The whole, then the slices of these dimensions alone, in the gold's order; crossed ones last."""
    one_way = [
        ((name, str(value)),) for name in board.dimensions if name in dimensions for value in board.dimensions[name]
    ]
    shown = {slice_ for row in board.rows for _, slice_ in row.cells}
    crossed = [s for s in shown if len(s) > 1 and dimensions.issuperset(name for name, _ in s)]
    places = {slice_[0]: place for place, slice_ in enumerate(one_way)}
    # A value that the gold lost since comes last.
    crossed.sort(key=lambda slice_: ([places.get(part, len(places)) for part in slice_], slice_))
    return [WHOLE, *one_way, *crossed]


def _exists(board: Board, measure: str, slice_: Slice) -> bool:
    return slice_ == WHOLE or board.n(measure, slice_) is not None


def ordered(board: Board, sort: str) -> list[Row]:
    """The rows as asked for: by the primary measure unless `sort` names a column. Raises ValidationError."""
    if not sort:
        return standings.by_primary(board)
    name, backwards = sort.removeprefix("-"), sort.startswith("-")
    if name in PLAIN:
        return standings.in_order(board.rows, lambda row: _plain(row, name), descending=backwards)
    if name in costs.KINDS:
        return standings.in_order(board.rows, lambda row: row.spent(name), descending=backwards)
    key, best_first = _column(board, name)
    return standings.in_order(board.rows, lambda row: row.cell(*key).value, descending=best_first != backwards)


def _plain(row: Row, name: str) -> Any:
    value = getattr(row, name)
    return value.casefold() if isinstance(value, str) else value


def _column(board: Board, name: str) -> tuple[Key, bool]:
    """The column of that label, and whether more is better there."""
    for measure in board.measures:
        if name == measure.name:
            return (measure.name, WHOLE), measure.higher_is_better is not False
    for key in {key for row in board.rows for key in row.cells}:
        if name == label(key):
            declared = board.measure(key[0])
            return key, declared is None or declared.higher_is_better is not False
    known = ", ".join([*(measure.name for measure in board.measures), *PLAIN, *costs.KINDS, "measure[dimension=value]"])
    raise ValidationError({"sort": f'"{name}" is no column here, expected one of: {known}.'})
