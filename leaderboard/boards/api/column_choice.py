"""Which columns of a board a request asks for."""

from __future__ import annotations

from rest_framework.exceptions import ValidationError

from leaderboard.boards.queries import WHOLE, Board, Key, Slice

ALL = "all"


def check(board: Board, *, measures: list[str], slices: list[str]) -> None:
    """Raises ValidationError for a measure or a dimension that the board does not know."""
    _check("measure", measures, [measure.name for measure in board.measures])
    _check("slices", slices, [ALL, *board.dimensions])


def chosen(board: Board, *, measures: list[str], slices: list[str], base: Slice = WHOLE) -> list[Key]:
    """The columns that are asked for, the primary measure first, the base before the slices by `slices`."""
    names = [measure.name for measure in board.measures if not measures or measure.name in measures]
    dimensions = set(board.dimensions) if ALL in slices else set(slices)
    told = {key for row in board.rows for key in row.cells}
    found = [base, *(slice_ for slice_ in _slices(board, dimensions) if slice_ != base)]
    return [(name, slice_) for slice_ in found for name in names if slice_ == base or (name, slice_) in told]


def _check(parameter: str, given: list[str], known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise ValidationError({parameter: f'"{name}" is unknown here, expected one of: {", ".join(known)}.'})


def _slices(board: Board, dimensions: set[str]) -> list[Slice]:
    """The slices of these dimensions alone, in the gold's order; crossed ones last."""
    one_way = [
        ((name, str(value)),) for name in board.dimensions if name in dimensions for value in board.dimensions[name]
    ]
    shown = {slice_ for row in board.rows for _, slice_ in row.cells}
    crossed = [s for s in shown if len(s) > 1 and dimensions.issuperset(name for name, _ in s)]
    places = {slice_[0]: place for place, slice_ in enumerate(one_way)}
    # A value that the gold lost since comes last.
    crossed.sort(key=lambda slice_: ([places.get(part, len(places)) for part in slice_], slice_))
    return [*one_way, *crossed]
