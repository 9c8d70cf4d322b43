"""The files of the task: the formats of their lines, parsed gold and parsed predictions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from evaluator.errors import shown
from evaluator.jsonl.ids import GoldLine, format_ids
from evaluator.tasks.items.files import Fault, ItemAnswers, ItemGold, KnownItems, format_of


class GoldText(GoldLine, gc=False, kw_only=True):
    """A line of gold; `GoldLine` adds the optional group and slices."""

    id: str | int
    text: str
    label: str


class Text(msgspec.Struct, gc=False):
    """A line of the public inputs."""

    id: str | int
    text: str


class Answer(msgspec.Struct, gc=False):
    """A line of predictions."""

    id: str | int
    label: str


GOLD, INPUTS, PREDICTIONS = format_of(GoldText), format_of(Text), format_of(Answer)


@dataclass
class Gold(ItemGold):
    """Parsed gold, whose lines have a label. classes: the labels, sorted."""

    lines: list[GoldText] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)

    @property
    def labels(self) -> list[str]:
        return [line.label for line in self.lines]

    def problems(self, line: GoldText) -> Iterable[Fault]:
        if isinstance(line.slices, dict) and "label" in line.slices:
            yield "slices has a dimension that the task itself adds", '"label"', "another name"

    def finish(self, file: str) -> list[str]:
        self.classes = sorted(set(self.labels))
        return []


class Answers(ItemAnswers):
    """One label per gold text, in the order of the gold; None: no prediction."""

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        self.labels: list[str | None] = [None] * len(known.index_of)

    def problems(self, line: Answer, index: int | None) -> Iterable[Fault]:
        classes = self.known.facts.get("labels")
        if classes is not None and line.label not in classes:
            yield "unknown label", shown(line.label), f"one of {format_ids(classes)}"

    def add(self, lines: Sequence[Answer], indices: Any, first: int) -> None:
        for line, index in zip(lines, indices.tolist(), strict=True):
            self.labels[index] = line.label
