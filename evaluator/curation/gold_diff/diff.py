"""Comparison of two gold files of one task, item by item, where items with the same id correspond."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evaluator.jsonl.tables import FIRST_ROW, lines_of, table_format
from evaluator.tasks.base import AnyTask
from evaluator.tasks.gold_fields import GoldFields

KINDS = ("added", "removed", "question", "answer", "system", "group", "slices", "other")
"""Kinds of change to an item. `other`: its JSON is written differently, but question and scoring are the same."""
LONGEST = 600
"""Maximum number of characters shown of a text; longer texts end in an ellipsis."""

Id = str | int
_encode = msgspec.json.Encoder(order="deterministic").encode
_in_order = msgspec.json.Encoder().encode
"""Encoder that keeps the order of an object's keys: the task returns a fact's keys in the order to show them in."""
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True)
class Change:
    """One changed field of an item.

    kind: one of KINDS. field: the field's name. before, after: the values in the old and in the new file, None if
    absent; of collections, only the members that the other file lacks.
    """

    kind: str
    field: str
    before: Any
    after: Any

    def as_dict(self) -> dict[str, Any]:
        values = {"before": _cut(self.before), "after": _cut(self.after)}
        return {"kind": self.kind, "field": self.field, **values}


@dataclass(frozen=True)
class Item:
    """A changed item. line: the item's line number, of a table its row, in the new file; for removed items, in the old
    file.
    """

    id: Id
    line: int
    changes: list[Change]

    @property
    def kinds(self) -> list[str]:
        """Kinds of the item's changes, each once, in the order of KINDS."""
        present = {change.kind for change in self.changes}
        return [kind for kind in KINDS if kind in present]

    def as_dict(self) -> dict[str, Any]:
        changes = [change.as_dict() for change in self.changes]
        return {"id": self.id, "line": self.line, "kinds": self.kinds, "changes": changes}


@dataclass
class Difference:
    """Result of a comparison of two files.

    n_before, n_after: the number of items of the old and of the new file. reordered: True if the items that are in both
    files are in another order. items: the changed items.
    """

    n_before: int = 0
    n_after: int = 0
    reordered: bool = False
    items: list[Item] = field(default_factory=list)

    @property
    def by_kind(self) -> dict[str, int]:
        """Number of items with each kind of change; an item may have several."""
        counted = Counter(kind for item in self.items for kind in item.kinds)
        return {kind: counted[kind] for kind in KINDS}

    def counts(self) -> dict[str, Any]:
        """Return the numbers of items and of changes as JSON values, without any text of questions or answers."""
        return {
            "n_before": self.n_before,
            "n_after": self.n_after,
            "n_changed": len(self.items),
            "reordered": self.reordered,
            "by_kind": self.by_kind,
        }


@dataclass(frozen=True)
class GoldFile:
    """An open gold file. Its name shows whether it is a table (`tables.table_format`), and whether it is compressed."""

    stream: BinaryIO
    name: str


def compare(task: AnyTask, before: GoldFile, after: GoldFile, options: Mapping[str, Any]) -> Difference:
    """Compare two gold files: the result lists the changed items.

    Its items are first those of `after`, in the order of `after`, then removed items, in the order of `before`. Both
    files are gold in the task's own format. options: the task's options, from `Task.parse_options`. Raises GoldError
    with the invalid lines.
    """
    old = dict(_identified(task, _lines(task, before, options)))
    result = Difference(n_before=len(old))
    last = -1
    unmatched = {identifier: position for position, identifier in enumerate(old)}
    removed = []
    for identifier, (number, raw) in _identified(task, _lines(task, after, options)):
        result.n_after += 1
        if identifier not in old:
            line = _decode(raw)
            result.items.append(Item(identifier, number, _all_fields("added", task, line)))
            continue
        result.reordered |= unmatched[identifier] < last
        last = max(last, unmatched.pop(identifier))
        if old[identifier][1] != raw and (changes := _changes(task, _decode(old[identifier][1]), _decode(raw))):
            result.items.append(Item(identifier, number, changes))
    for identifier in unmatched:  # items of the old file only
        number, raw = old[identifier]
        removed.append(Item(identifier, number, _all_fields("removed", task, _decode(raw))))
    result.items += removed
    return result


def _lines(task: AnyTask, file: GoldFile, options: Mapping[str, Any]) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line without its end) of a gold file, after the task has validated the whole file."""
    content = file.stream.read()
    task.read_gold(io.BytesIO(content), file.name, options)
    yield from enumerate(lines_of(io.BytesIO(content), file.name), FIRST_ROW if table_format(file.name) else 1)


def _identified(task: AnyTask, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[Id, tuple[int, bytes]]]:
    for number, raw in lines:
        yield _decode(raw)[task.id_key], (number, raw)


def _changes(task: AnyTask, before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    old, new = task.gold_fields(before), task.gold_fields(after)
    changes = [
        *_of_fields("question", old.question, new.question),
        *_of_answers(old, new),
        *_of_fields("system", old.system, new.system),
        *_of_fields("group", {"group": _group(task, before)}, {"group": _group(task, after)}),
        *_of_fields("slices", before.get("slices") or {}, after.get("slices") or {}),
    ]
    if changes or _encode(before) == _encode(after):
        return changes
    names = sorted(name for name in before | after if _written(before, name) != _written(after, name))
    return [Change("other", name, None, None) for name in names]


def _of_answers(old: GoldFields, new: GoldFields) -> Iterator[Change]:
    for change in _of_fields("answer", old.answer, new.answer):
        if change.field != "has evidence" or not (old.many.get("evidence") or new.many.get("evidence")):
            yield change
    for name in sorted(old.many.keys() | new.many.keys()):
        before, after = (_counted(fields.many.get(name, [])) for fields in (old, new))
        if before != after:
            yield Change("answer", name, _members(before - after), _members(after - before))


def _of_fields(kind: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        if _written(before, name) != _written(after, name):
            yield Change(kind, name, before.get(name), after.get(name))


def _all_fields(kind: str, task: AnyTask, line: dict[str, Any]) -> list[Change]:
    """Return the changes of an item that is in only one file, one for each field of its question and answer.

    kind: `added` or `removed`. line: the item's gold line.
    """
    parts = task.gold_fields(line)
    fields = {**parts.question, **parts.answer, **parts.many}
    sides = ("after", "before") if kind == "added" else ("before", "after")
    return [Change(kind, name, **dict(zip(sides, (value, None), strict=True))) for name, value in fields.items()]


def _group(task: AnyTask, line: dict[str, Any]) -> Id:
    """Return the group of the item on this gold line; without a group, the item's id."""
    group: Id = line.get("group", line[task.id_key])
    return group


def _written(line: dict[str, Any], name: str) -> bytes | None:
    """Return the value of the line's field as JSON, in which true, 1 and "1" differ; None if the field is absent."""
    return _encode(line[name]) if name in line else None


def _counted(members: list[Any]) -> Counter[bytes]:
    return Counter(map(_in_order, members))


def _members(counted: Counter[bytes]) -> list[Any]:
    return [_decode(member) for member in sorted(counted.elements())]


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if isinstance(value, list):
        return [_cut(member) for member in value]
    return {name: _cut(member) for name, member in value.items()} if isinstance(value, dict) else value
