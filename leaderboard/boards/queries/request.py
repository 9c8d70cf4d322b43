"""Request parameters of a board, for pages and the API: slice, sort order, filters and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries import facts, tracks
from leaderboard.boards.queries.board import Board
from leaderboard.boards.queries.columns import SORTABLE
from leaderboard.boards.queries.facts import Fact
from leaderboard.boards.queries.rows import Key
from leaderboard.boards.queries.slices import WHOLE, Slice
from leaderboard.models import System

PAGE_SIZE = 150
MOST_ROWS = 500
"""Maximum number of rows of a board on a page, in a file, and of those that other pages and orders read.

So a request costs the same on any larger board; docs/boards.md, section "Large boards", says what such boards show.
"""


class InvalidQuery(Exception):
    """A request parameter that is invalid for this board. text: what was found, and what was expected."""

    def __init__(self, parameter: str, text: str) -> None:
        super().__init__(text)
        self.parameter, self.text = parameter, text


@dataclass(frozen=True)
class Column:
    """A column to sort or filter by: a row column, a cost, a fact, or a measure on a slice.

    key: the measure and slice; None for other columns. fact: the fact; None for other columns. best_first: True if
    sorting in descending order puts the best rows first.
    """

    name: str
    key: Key | None = None
    best_first: bool = False
    fact: Fact | None = None


@dataclass(frozen=True)
class BoardQuery:
    """Parsed request parameters of a board. slice_: the slice whose scores are shown. size: rows per page.

    kind, track, words, own, by: filters; empty or None: no filter. words: each must occur in the name of a row's
    system or team, as shown to the viewer. own: only systems of the viewer's teams. bounds: least and greatest allowed
    value in the column `by`, both inclusive; None: no bound. facts: facts with the value that a system must have, or
    the text that must occur in its value.
    """

    sort: Column
    descending: bool
    slice_: Slice = WHOLE
    kind: str = ""
    track: str = ""
    words: tuple[str, ...] = ()
    own: bool = False
    facts: tuple[tuple[Fact, facts.Value], ...] = ()
    by: Column | None = None
    bounds: tuple[float | None, float | None] = (None, None)
    page: int = 1
    size: int = PAGE_SIZE

    @property
    def filters(self) -> bool:
        return bool(self.kind or self.track or self.words or self.own or self.facts or self.by)

    @property
    def selects_systems(self) -> bool:
        """True with a filter by anything but the values in a column."""
        return bool(self.kind or self.track or self.words or self.own or self.facts)

    @property
    def dimensions(self) -> set[str]:
        """Dimensions of the slices that are shown, sorted by and filtered by."""
        keys = [column.key for column in (self.sort, self.by) if column and column.key]
        return {name for slice_ in (self.slice_, *(on for _, on in keys)) for name, _ in slice_}


def parse(board: Board, params: Mapping[str, str], sorting: Callable[[Column], bool] | None = None) -> BoardQuery:
    """Parse the parameters slice, sort, kind, track, search, own, by, at_least, at_most, page and page_size.

    sorting: returns True for a column that is to be sorted in descending order. None: the column's best values come
    first, and a leading - in the parameter `sort` reverses the order.
    Raises InvalidQuery for a parameter that is invalid, or that names something which this board does not have.
    """
    for name, value in params.items():
        if "\0" in value:  # no text of PostgreSQL can contain it
            raise InvalidQuery(name, "The value contains a NUL character, expected text without it.")
    slice_ = slice_in(board, params["slice"], ":") if params.get("slice") else WHOLE
    sort = params.get("sort", "")
    column = column_in(board, sort.removeprefix("-"), slice_) if sort else first_column(board, slice_)
    by, bounds = _bounds(board, params, slice_)
    return BoardQuery(
        sort=column,
        descending=sorting(column) if sorting else column.best_first != sort.startswith("-"),
        slice_=slice_,
        kind=_kind(params.get("kind", "")),
        track=_track(board, params.get("track", "")),
        words=tuple(params.get("search", "").split()),
        facts=_facts(board, params),
        own=bool(params.get("own", "")),
        by=by,
        bounds=bounds,
        page=_count(params, "page", 1, None),
        size=_count(params, "page_size", PAGE_SIZE, MOST_ROWS),
    )


def first_column(board: Board, slice_: Slice = WHOLE) -> Column:
    """Return the default sort column: the primary measure on the slice."""
    measure = board.measure(board.primary)
    return Column(board.primary, (board.primary, slice_), measure is None or measure.higher_is_better is not False)


def column_in(board: Board, name: str, slice_: Slice = WHOLE, parameter: str = "sort") -> Column:
    """Return the column with this name; a measure without brackets is on `slice_`.

    Raises InvalidQuery, which names the query parameter `parameter`, if the board has no such column.
    """
    if name in SORTABLE or name in costs.KINDS:
        return Column(name)
    if fact := next((fact for fact in facts.of(board.phase.benchmark) if fact.column == name), None):
        return Column(name, best_first=fact.is_number, fact=fact)
    measure, bracket, inner = name.partition("[")
    declared = board.measure(measure)
    if declared is None or (bracket and not inner.endswith("]")):
        raise InvalidQuery(parameter, _unknown(board, name))
    try:
        on = slice_in(board, inner[:-1], "=") if bracket else slice_
    except InvalidQuery:
        raise InvalidQuery(parameter, _unknown(board, name)) from None
    return Column(name, (measure, on), declared.higher_is_better is not False)


def slice_in(board: Board, text: str, joint: str) -> Slice:
    """Parse a slice such as `property:CEO` or `origin:generated,label:SUPPORTS`; raise InvalidQuery if it is unknown.

    joint: the text between a dimension and its value, ":" in these examples. `text` is compared with the board's own
    dimensions and values, since these may contain any character.
    """
    rest, values_by_name = text, dict[str, str]()
    while rest:
        part = _part(board, rest, joint)
        if part is None or part[0] in values_by_name:
            known = ", ".join(f"{name}{joint}{value}" for name, values in board.dimensions.items() for value in values)
            raise InvalidQuery("slice", f'"{text}" is not a slice of this board, expected one of: {known or "none"}.')
        values_by_name[part[0]] = part[1]
        rest = rest[len(joint.join(part)) + 1 :]
    return tuple(sorted(values_by_name.items()))


def _part(board: Board, text: str, joint: str) -> tuple[str, str] | None:
    for name, values in board.dimensions.items():
        for value in values:
            part = f"{name}{joint}{value}"
            if text == part or text.startswith(f"{part},"):
                return name, value
    return None


def _unknown(board: Board, name: str) -> str:
    known = [
        *(measure.name for measure in board.measures),
        *SORTABLE,
        *costs.KINDS,
        *(fact.column for fact in facts.of(board.phase.benchmark)),
        "measure[dimension=value]",
    ]
    return f'"{name}" is not a column of this board, expected one of: {", ".join(known)}.'


def _kind(kind: str) -> str:
    if kind and kind not in System.Kind.values:
        raise InvalidQuery(
            "kind", f'"{kind}" is not a kind of system, expected one of: {", ".join(System.Kind.values)}.'
        )
    return kind


def _track(board: Board, name: str) -> str:
    known = [track.name for track in tracks.of(board.phase)]
    if name and name not in known:
        expected = f"expected one of: {', '.join(known)}" if known else "which has no tracks"
        raise InvalidQuery("track", f'"{name}" is not a track of this phase, {expected}.')
    return name


def _bounds(
    board: Board, params: Mapping[str, str], slice_: Slice
) -> tuple[Column | None, tuple[float | None, float | None]]:
    ends = (_number(params, "at_least"), _number(params, "at_most"))
    if ends == (None, None):
        return None, ends
    by = column_in(board, params["by"], slice_, "by") if params.get("by") else first_column(board, slice_)
    if by.key is None and by.name not in costs.KINDS and not (by.fact and by.fact.is_number):
        raise InvalidQuery("by", f'"{by.name}" is not a column of numbers, expected a measure, cost or numeric fact.')
    return by, ends


def _facts(board: Board, params: Mapping[str, str]) -> tuple[tuple[Fact, facts.Value], ...]:
    answers = []
    for fact in facts.of(board.phase.benchmark):
        try:
            value = fact.parse(params.get(fact.column, ""))
        except ValueError as error:
            raise InvalidQuery(fact.column, f"{str(error).capitalize()}.") from error
        if value is not None:
            answers.append((fact, value))
    return tuple(answers)


def _number(params: Mapping[str, str], name: str) -> float | None:
    text = params.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InvalidQuery(name, f'"{text}" is not a number, expected a finite number such as 0.5.')
    return value


def _count(params: Mapping[str, str], name: str, default: int, most: int | None) -> int:
    text = params.get(name, "") or str(default)
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if value < 1 or (most is not None and value > most):
        raise InvalidQuery(
            name,
            f'"{text}" is not a valid {name}, expected a whole number from 1 {f"to {most}" if most else "up"}.',
        )
    return value
