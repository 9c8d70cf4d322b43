"""Two gold files of one task laid side by side, by id."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import GoldError, ProblemList
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.tasks.base import AnyTask
from evaluator.tasks.gold_fields import GoldFields

KINDS = ("added", "removed", "question", "answer", "system", "group", "slices", "other")
"""What can have happened to an item. `other`: it is written otherwise, and neither scored nor asked otherwise."""
LONGEST = 600
"""Characters of a text that are told; what is cut ends in an ellipsis."""

Id = str | int
_encode = msgspec.json.Encoder(order="deterministic").encode
_in_order = msgspec.json.Encoder().encode
"""For what a layout has put into an order of its own: a fact's properties stand as its task names them."""
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True)
class Change:
    """One field of an item, before and after; null where it has none. Of collections the members that only one has."""

    kind: str
    field: str
    before: Any
    after: Any

    def as_dict(self) -> dict[str, Any]:
        told = {"before": _cut(self.before), "after": _cut(self.after)}
        return {"kind": self.kind, "field": self.field, **told}


@dataclass(frozen=True)
class Item:
    """An item that is not as it was. line: in the file after, of what was removed in the file before."""

    id: Id
    line: int
    changes: list[Change]

    @property
    def kinds(self) -> list[str]:
        """Each once, in the order of KINDS."""
        there = {change.kind for change in self.changes}
        return [kind for kind in KINDS if kind in there]

    def as_dict(self) -> dict[str, Any]:
        changes = [change.as_dict() for change in self.changes]
        return {"id": self.id, "line": self.line, "kinds": self.kinds, "changes": changes}


@dataclass
class Difference:
    """n_before, n_after: items of each file. reordered: whether those in both stand in another order."""

    n_before: int = 0
    n_after: int = 0
    reordered: bool = False
    items: list[Item] = field(default_factory=list)

    @property
    def by_kind(self) -> dict[str, int]:
        """How many items changed in each way; an item may change in several."""
        counted = Counter(kind for item in self.items for kind in item.kinds)
        return {kind: counted[kind] for kind in KINDS}

    def counts(self) -> dict[str, Any]:
        """Numbers alone: nothing of it quotes an answer."""
        return {
            "n_before": self.n_before,
            "n_after": self.n_after,
            "n_changed": len(self.items),
            "reordered": self.reordered,
            "by_kind": self.by_kind,
        }


@dataclass(frozen=True)
class GoldFile:
    """An open file; a name that ends in .gz is unpacked."""

    stream: BinaryIO
    name: str


def difference(task: AnyTask, before: GoldFile, after: GoldFile, options: Mapping[str, Any]) -> Difference:
    """What the file after changes: items of it in their order, then what was removed in the order before.

    Both are gold in the task's own format; options are the task's, parsed. Raises GoldError with the lines at fault.
    """
    old = dict(_identified(task, _lines(task, before, options)))
    found = Difference(n_before=len(old))
    last = -1
    places = {identifier: place for place, identifier in enumerate(old)}
    removed = []
    for identifier, (number, raw) in _identified(task, _lines(task, after, options)):
        found.n_after += 1
        if identifier not in old:
            line = _decode(raw)
            found.items.append(Item(identifier, number, _whole("added", task, line)))
            continue
        found.reordered |= places[identifier] < last
        last = max(last, places.pop(identifier))
        if old[identifier][1] != raw and (changes := _changes(task, _decode(old[identifier][1]), _decode(raw))):
            found.items.append(Item(identifier, number, changes))
    for identifier in places:  # what no line of the file after has taken out
        number, raw = old[identifier]
        removed.append(Item(identifier, number, _whole("removed", task, _decode(raw))))
    found.items += removed
    return found


def _lines(task: AnyTask, file: GoldFile, options: Mapping[str, Any]) -> Iterator[tuple[int, bytes]]:
    """(number, line), after the task has read the whole file without a fault."""
    content = file.stream.read()
    task.read_gold(io.BytesIO(content), file.name, options)
    rest, number = b"", 0
    for chunk in chunks(io.BytesIO(content), ReadLimits(), ProblemList(file.name, GoldError)):
        *whole, rest = (rest + chunk).split(b"\n")
        for number, line in enumerate(whole, number + 1):  # noqa: B020  (goes on where the last chunk ended)
            yield number, line.removesuffix(b"\r")
    if rest:
        yield number + 1, rest


def _identified(task: AnyTask, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[Id, tuple[int, bytes]]]:
    for number, raw in lines:
        yield _decode(raw)[task.id_key], (number, raw)


def _changes(task: AnyTask, before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    one, other = task.gold_fields(before), task.gold_fields(after)
    changes = [
        *_of_fields("question", one.question, other.question),
        *_of_answers(one, other),
        *_of_fields("system", one.system, other.system),
        *_of_fields("group", {"group": _group(task, before)}, {"group": _group(task, after)}),
        *_of_fields("slices", before.get("slices") or {}, after.get("slices") or {}),
    ]
    if changes or _encode(before) == _encode(after):
        return changes
    names = sorted(name for name in before | after if _written(before, name) != _written(after, name))
    return [Change("other", name, None, None) for name in names]


def _of_answers(one: GoldFields, other: GoldFields) -> Iterator[Change]:
    for change in _of_fields("answer", one.answer, other.answer):
        if change.field != "has evidence" or not (one.many.get("evidence") or other.many.get("evidence")):
            yield change
    for name in sorted(one.many.keys() | other.many.keys()):
        before, after = (_counted(told.many.get(name, [])) for told in (one, other))
        if before != after:
            yield Change("answer", name, _members(before - after), _members(after - before))


def _of_fields(kind: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        if _written(before, name) != _written(after, name):
            yield Change(kind, name, before.get(name), after.get(name))


def _whole(kind: str, task: AnyTask, line: dict[str, Any]) -> list[Change]:
    """An item that only one file has: what it asks and what is right."""
    told = task.gold_fields(line)
    fields = {**told.question, **told.answer, **told.many}
    sides = ("after", "before") if kind == "added" else ("before", "after")
    return [Change(kind, name, **dict(zip(sides, (value, None), strict=True))) for name, value in fields.items()]


def _group(task: AnyTask, line: dict[str, Any]) -> Id:
    """Where no line says otherwise, an item is a group of its own."""
    group: Id = line.get("group", line[task.id_key])
    return group


def _written(line: dict[str, Any], name: str) -> bytes | None:
    """As JSON, for true, 1 and "1" are three values."""
    return _encode(line[name]) if name in line else None


def _counted(members: list[Any]) -> Counter[bytes]:
    return Counter(map(_in_order, members))


def _members(counted: Counter[bytes]) -> list[Any]:
    return [_decode(member) for member in sorted(counted.elements())]


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return {name: _cut(one) for name, one in value.items()} if isinstance(value, dict) else value
