"""Ids of gold units (strings or integers, one type per split), and the groups and slices that a gold line may have."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import ProblemList, shown
from evaluator.jsonl.id_table import Id as Id  # noqa: PLC0414 - modules import it from here
from evaluator.jsonl.id_table import IdSequence, IdTable, Indices
from evaluator.jsonl.reader import Block
from evaluator.outcomes.table import SliceValue

MAX_LISTED = 10
Line = TypeVar("Line", bound=Any)


class GoldLine(msgspec.Struct, gc=False, kw_only=True):
    """The optional fields of a gold line in every task.

    group: the name of the group, which the bootstrap resamples as a whole; slices: dimension -> value.
    """

    group: str | int | msgspec.UnsetType = msgspec.UNSET
    slices: dict[str, str | int | float | bool] | msgspec.UnsetType = msgspec.UNSET


def count_gold_keys(line: GoldLine) -> int:
    """Return how many of a line's JSON keys are `group`, `slices` or keys inside `slices`."""
    n = 0 if line.group is msgspec.UNSET else 1
    return n if line.slices is msgspec.UNSET else n + 1 + len(line.slices)


def type_name(value: object) -> str:
    return "a string" if isinstance(value, str) else "an integer"


class IdRegister:
    """The distinct ids of a file, each with its index in the order of the file.

    Duplicates, and ids of another type than the first id, are reported in `problems`. name: the JSON key of the id.
    """

    def __init__(self, problems: ProblemList, name: str = "id") -> None:
        self.indices = IdTable()
        self._problems = problems
        self._name = name

    def add_all(self, lines: Sequence[Any]) -> bool:
        """Register the ids of a block's records. Return False, and register none, if `add` would refuse one of them."""
        return self.indices.add_all([line.id for line in lines])

    def added(self, blocks: Iterable[Block[Line]]) -> Iterator[Line]:
        """Register the ids of all lines. Yield the record of each line whose id is registered; others are reported."""
        for block in blocks:
            if block.records is not None and self.add_all(block.records):
                yield from block.records
            else:
                yield from (line for number, line in block.lines() if self.add(line.id, number))

    def add_blocks(self, blocks: Iterable[Block[Any]]) -> None:
        """Register the ids of all lines. Ids that are refused are reported."""
        for _ in self.added(blocks):
            pass

    def add(self, value: Id, line: int) -> bool:
        """Register a line's id. Return False, after reporting a problem, if it is a duplicate or of another type.

        value: the id. line: the line's number.
        """
        if self.indices.add(value):
            return True
        if type(value) is not self.indices.kind:
            expected = "a string" if self.indices.kind is str else "an integer"
            self._problems.add(
                line,
                f"{self._name} has another type than on earlier lines",
                type_name(value),
                f"{expected}, as on earlier lines",
            )
        else:
            self._problems.add(line, f"duplicate {self._name}", shown(value), f"each {self._name} once")
        return False


class AnswerRegister:
    """The ids that predictions have to answer, each with its index, and a record of which ids are already answered.

    index_of: id -> its index, of all ids in the inputs. Ids that are answered twice, or are not in the inputs, are
    reported in `problems`.
    """

    def __init__(self, index_of: Mapping[Id, int], problems: ProblemList) -> None:
        self._indices = index_of
        self._problems = problems
        # The line of each index's answer, 0 without one.
        self._first_line = np.zeros(len(index_of), dtype=np.uint64)

    def answer_all(self, lines: Sequence[Any] | None, first: int) -> Indices | None:
        """Return the indices of the ids that a block's records answer, and note these ids as answered.

        lines: the records; first: the line number of the first record. Return None, and note nothing, if `lines` is
        None or `index_of` would refuse a line: the lines then have to be answered one by one.
        """
        if lines is None:
            return None
        values = [line.id for line in lines]
        if isinstance(self._indices, IdTable):
            indices = self._indices.find(values)
        else:
            indices = np.array([self._indices.get(value, -1) for value in values], dtype=np.int64)
        if (indices < 0).any() or self._first_line[indices].any():
            return None
        numbers = np.arange(first, first + len(values), dtype=np.uint64)
        self._first_line[indices] = numbers
        if (self._first_line[indices] != numbers).any():  # an id is there twice
            self._first_line[indices] = 0
            return None
        return indices

    def answered(self, blocks: Iterable[Block[Line]]) -> Iterator[tuple[Line, int]]:
        """Yield (record, index of the id that it answers) of each line with an answer; other lines are reported."""
        for block in blocks:
            indices = self.answer_all(block.records, block.first)
            if indices is not None and block.records is not None:
                yield from zip(block.records, indices.tolist(), strict=True)
                continue
            for number, line in block.lines():
                index = self.index_of(line.id, number)
                if index is not None:
                    yield line, index

    def index_of(self, value: Id, line: int) -> int | None:
        """Return the index of the id that a line answers, and note the id as answered; None after reporting a problem.

        value: the id. line: the line's number.
        """
        index = self._indices.get(value)
        if index is None:
            self._problems.add(line, *unknown_id("id", value, self._indices))
            return None
        first = self._first_line.item(index)
        if first:
            self._problems.add(line, "duplicate id", f"{shown(value)} (first on line {first})", "each id once")
            return None
        self._first_line[index] = line
        return index

    def line_of(self, index: int) -> int:
        """Return the number of the line that answered the id with this index; 0: no line has."""
        return self._first_line.item(index)

    @property
    def silent(self) -> list[Id]:
        """The ids that no line has answered so far."""
        if self._first_line.all():
            return []
        return [value for value, line in zip(self._indices, self._first_line.tolist(), strict=True) if not line]

    @property
    def warnings(self) -> list[str]:
        """A list with one warning that names the ids without an answer; empty if there are no such ids.

        It is for tasks in which answers may be missing. The ids are sorted, so that the warning does not reveal the
        order of the gold.
        """
        silent = sorted(self.silent)
        if not silent:
            return []
        verb = "id is" if len(silent) == 1 else "ids are"
        return [
            f"{self._problems.file}: {len(silent)} {verb} missing and scored like an empty answer: {format_ids(silent)}"
        ]


def order_key(value: Id) -> bytes:
    """Return a digest of the id. Public inputs are sorted by it, so that their order does not reveal gold."""
    return hashlib.sha256(repr(value).encode()).digest()


def unknown_id(name: str, value: Id, known: Iterable[Id]) -> tuple[str, str, str]:
    """Return the texts of a problem (what is wrong, found, expected) for an id that is not among the known ids.

    name: the JSON key of the id. value: the id.
    """
    first = next(iter(known), None)
    if first is not None and type(first) is not type(value):
        return f"unknown {name}", f"{shown(value)} ({type_name(value)})", f"{type_name(first)}, as in the inputs"
    return f"unknown {name}", shown(value), "an id of the inputs"


def format_ids(ids: Sequence[Id]) -> str:
    """Return the first MAX_LISTED ids as text, followed by an ellipsis if there are more."""
    text = ", ".join(shown(value) for value in ids[:MAX_LISTED])
    return f"{text}, ..." if len(ids) > MAX_LISTED else text


def report_missing(problems: ProblemList, ids: Sequence[Id], n_unread: int) -> None:
    """Report ids without an answer, as `3 ids are missing: "a", "b", "c"`.

    ids: the ids without an answer. n_unread: the number of lines that could not be read; nothing is reported if all
    missing ids may be on these lines.
    """
    if len(ids) <= n_unread:
        return
    verb = "id is" if len(ids) == 1 else "ids are"
    lines = "line" if n_unread == 1 else f"{n_unread} lines"
    unread = f" (some may be on the {lines} that could not be read)" if n_unread else ""
    problems.add(None, f"{len(ids)} {verb} missing: {format_ids(ids)}{unread}")


class Groups:
    """The group of each gold line: the one that the line declares, else the line's id.

    ids: the table with the ids of the lines.
    """

    def __init__(self, ids: IdTable) -> None:
        self._ids = ids
        self._groups: list[Id] | None = None  # None until a line declares one
        self._n = 0

    def extend(self, lines: Sequence[Any]) -> None:
        """Add the groups of further gold lines, whose ids must already be in the id table."""
        unset = msgspec.UNSET
        if self._groups is None and any(line.group is not unset for line in lines):
            self._groups = list(self._ids)[: self._n]
        if self._groups is not None:
            self._groups.extend(line.id if line.group is unset else line.group for line in lines)
        self._n += len(lines)

    def sequence(self) -> Sequence[Id]:
        return self._ids.sequence() if self._groups is None else self._groups


def group_codes(groups: Sequence[Id]) -> tuple[tuple[Id, ...], npt.NDArray[np.int32]]:
    """Return (the distinct groups by first occurrence, for each line the index of its group among them).

    groups: the group of each line.
    """
    if isinstance(groups, IdSequence):
        return tuple(groups), np.arange(len(groups), dtype=np.int32)
    names: dict[Id, int] = {}
    codes = np.array([names.setdefault(group, len(names)) for group in groups], dtype=np.int32)
    return tuple(names), codes


def slice_columns(
    lines: Sequence[dict[str, SliceValue] | None],
) -> dict[str, list[SliceValue | None]]:
    """Return dimension -> column of slice values, for each dimension of a gold line, in order of first occurrence.

    lines: the `slices` of every gold line, None where it has none. Each column has one entry per line, None for a line
    without a value.
    """
    names = dict.fromkeys(name for slices in lines if slices for name in slices)
    return {name: [slices.get(name) if slices else None for slices in lines] for name in names}
