"""The files of a task with one answer per item: the formats of their lines, parsed gold and parsed predictions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, BinaryIO, Self, TypeVar

import msgspec
import numpy as np

from evaluator.errors import GoldError, PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.id_table import IdTable
from evaluator.jsonl.ids import (
    AnswerRegister,
    GoldLine,
    Groups,
    Id,
    IdRegister,
    count_gold_keys,
    report_missing,
)
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.audit.split import AuditColumns

Fault = tuple[str, str, str]
"""What is wrong with a line, what it has, and what is expected: the texts of a problem."""

Record = TypeVar("Record", bound=msgspec.Struct)


def format_of(record: type[Record]) -> Format[Record]:
    """Return the format of lines whose keys are the fields of `record`. A field whose default is UNSET is optional.

    The lines have no nested objects, except for the `slices` of a `GoldLine`.
    """
    fields = msgspec.structs.fields(record)
    optional = [name.name for name in fields if name.default is msgspec.UNSET]
    is_gold = issubclass(record, GoldLine)
    own = [name for name in optional if not is_gold or name not in GoldLine.__struct_fields__]
    required = len(fields) - len(optional)

    def count_keys(line: Any) -> int:
        n = required + count_gold_keys(line) if is_gold else required
        for name in own:
            n += getattr(line, name) is not msgspec.UNSET
        return n

    nested = {"slices": Schema(frozenset(), free=True)} if is_gold else {}
    return Format(record, Schema(frozenset(name.encode_name for name in fields), nested), count_keys)


@dataclass
class ItemGold:
    """Parsed gold: every list has one entry per item, in the order of the file.

    ids: id -> index of the item. lines: the lines as they were read. A subclass that keeps other columns of the lines
    overrides `extend` and `inputs`.
    """

    ids: IdTable
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    lines: list[Any] = field(default_factory=list)
    groups: Sequence[Id] = ()
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)

    def problems(self, line: Any) -> Iterable[Fault]:
        """Return what is wrong with a line beyond its types. The texts must not quote gold: participants read them."""
        return ()

    def extend(self, lines: Sequence[Any]) -> None:
        """Add lines, but not their ids, groups and slices."""
        self.lines.extend(lines)

    def finish(self, file: str) -> list[str]:
        """Return warnings about the whole file, when all lines are stored. file: the file's name."""
        return []

    def inputs(self, record: type[Any]) -> Iterable[Any]:
        """Return the lines of the public inputs, in the order of the file. record: the type of a line."""
        parts = attrgetter(*record.__struct_fields__)
        return (record(*parts(line)) for line in self.lines)

    def audit_columns(self, **columns: Any) -> AuditColumns:
        """Return the columns of an audit: ids, groups and slices, and those given."""
        return AuditColumns(ids=list(self.ids), groups=list(self.groups), slices=self.slices, **columns)


AnyGold = TypeVar("AnyGold", bound=ItemGold)


def read_gold(
    make: Callable[[IdTable], AnyGold], stream: BinaryIO, file: str, layout: Format[Any], limits: ReadLimits | None
) -> AnyGold:
    """Parse gold. Raises GoldError for invalid gold.

    make: returns gold without lines for a table of ids, which it keeps. file: the file's name in messages. limits:
    limits on its size; None: the default ones.
    """
    reader = Reader(file, layout, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = make(register.indices)
    groups = Groups(register.indices)
    for block in reader.blocks(stream):
        lines = block.records
        if lines is None or any(any(gold.problems(line)) for line in lines) or not register.add_all(lines):
            lines = []
            for number, line in block.lines():
                problems = list(gold.problems(line))
                for fault in problems:
                    reader.problems.add(number, *fault)
                if register.add(line.id, number) and not problems:
                    lines.append(line)
        gold.extend(lines)
        groups.extend(lines)
        gold.slices.extend(None if line.slices is msgspec.UNSET else line.slices for line in lines)
    reader.problems.raise_if_any()
    gold.groups = groups.sequence()
    gold.n_lines = reader.n_lines
    gold.warnings = [*reader.warnings, *gold.finish(file)]
    return gold


@dataclass(frozen=True)
class KnownItems:
    """What predictions are validated against.

    index_of: id -> index of the item. facts: the public facts about the gold. shown: the field of the inputs that hints
    compare with predictions (`ItemTask.shown`), one entry per item. gold: an `ItemGold`, where gold may be read; where
    there are only public inputs, None.
    """

    index_of: Mapping[Id, int]
    facts: Mapping[str, Any]
    shown: Sequence[Any] = ()
    gold: Any = None


class ItemAnswers:
    """Parsed predictions: what a task keeps of the lines of one file, by the index of the item. New ones are empty.

    A task overrides `add`, and `problems`, `finish` and the initialization as it needs. file: the file's name in
    messages.
    """

    def __init__(self, file: str, known: KnownItems) -> None:
        self.file = file
        self.known = known
        self.n_lines = 0
        self.warnings: list[str] = []
        self.hints: list[str] = []

    def problems(self, line: Any, index: int | None) -> Iterable[Fault]:
        """Return what is wrong with a line beyond its types and its id.

        index: the index of its item; None: the id is unknown, or has an answer already.
        """
        return ()

    def add(self, lines: Sequence[Any], indices: Any, first: int) -> None:
        """Store valid lines. indices: an array with the index of each line's item. first: the first line's number."""
        raise NotImplementedError

    def finish(self) -> list[str]:
        """Return the hints (`ReadPredictions`), when all lines are stored."""
        return []

    def read(self, stream: BinaryIO, layout: Format[Any], limits: ReadLimits | None, *, complete: bool) -> Self:
        """Parse predictions, and return these answers. Raises PredictionError for invalid predictions.

        limits: limits on the file's size; None: the default ones. complete: True if every id must have an answer; False
        if missing ones are like empty ones, with a warning.
        """
        reader = Reader(self.file, layout, PredictionError, limits)
        register = AnswerRegister(self.known.index_of, reader.problems)
        for block in reader.blocks(stream):
            lines, indices = block.records, register.answer_all(block.records, block.first)
            if lines is not None and indices is not None and not self._any_wrong(lines, indices.tolist()):
                self.add(lines, indices, block.first)
                continue
            for number, line in block.lines():
                index = register.index_of(line.id, number) if indices is None else indices.item(number - block.first)
                problems = list(self.problems(line, index))
                for fault in problems:
                    reader.problems.add(number, *fault)
                if index is not None and not problems:
                    self.add([line], np.array([index]), number)
        if complete:
            report_missing(reader.problems, register.silent, reader.n_unread)
        reader.problems.raise_if_any()
        self.n_lines = reader.n_lines
        self.warnings = [*reader.warnings, *([] if complete else register.warnings)]
        self.hints = self.finish()
        return self

    def _any_wrong(self, lines: Sequence[Any], indices: Sequence[int]) -> bool:
        return any(any(self.problems(line, index)) for line, index in zip(lines, indices, strict=True))
