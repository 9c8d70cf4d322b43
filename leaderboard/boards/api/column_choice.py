"""Score columns that a request selects."""

from __future__ import annotations

from rest_framework.exceptions import ValidationError

from leaderboard.boards.queries import WHOLE, Board, Key, Slice

ALL = "all"


def check(board: Board, *, measures: list[str], slices: list[str]) -> None:
    """Raise ValidationError if a name in `measures` is not a measure of the board, or one in `slices` not a dimension.

    `all` in `slices` stands for every dimension, and is accepted.
    """
    _check("measure", "measure", measures, [measure.name for measure in board.measures])
    _check("slices", "dimension", slices, [ALL, *board.dimensions])


def chosen(board: Board, *, measures: list[str], slices: list[str], base: Slice = WHOLE) -> list[Key]:
    """Return the score columns that a request selects, as (measure, slice) keys.

    measures: names of the measures to include; empty: all. Within a slice, the primary measure comes first.
    slices: names of dimensions; `all`: every dimension. The columns on the slice `base` come first, then those columns
    on the slices of these dimensions in which some row has a score.
    """
    names = [measure.name for measure in board.measures if not measures or measure.name in measures]
    dimensions = set(board.dimensions) if ALL in slices else set(slices)
    revealed = {key for row in board.rows for key in row.scores}
    selected = [base, *(slice_ for slice_ in _slices(board, dimensions) if slice_ != base)]
    return [(name, slice_) for slice_ in selected for name in names if slice_ == base or (name, slice_) in revealed]


def _check(parameter: str, noun: str, requested: list[str], known: list[str]) -> None:
    for name in requested:
        if name not in known:
            expected = f"expected one of: {', '.join(known)}"
            raise ValidationError({parameter: f'"{name}" is not a {noun} of this board, {expected}.'})


def _slices(board: Board, dimensions: set[str]) -> list[Slice]:
    """Return all one-way slices by these dimensions, and the two-way slices by them on which some row has a score.

    One-way slices come first, in the order of the board's dimensions and values.
    """
    one_way = [
        ((name, str(value)),) for name in board.dimensions if name in dimensions for value in board.dimensions[name]
    ]
    shown = {slice_ for row in board.rows for _, slice_ in row.scores}
    crossed = [s for s in shown if len(s) > 1 and dimensions.issuperset(name for name, _ in s)]
    positions = {slice_[0]: i for i, slice_ in enumerate(one_way)}
    # Slices with a value that the current gold no longer has come last.
    crossed.sort(key=lambda slice_: ([positions.get(part, len(positions)) for part in slice_], slice_))
    return [*one_way, *crossed]
