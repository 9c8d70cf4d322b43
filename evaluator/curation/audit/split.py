"""A split as the checks see it: one entry a line in every column, whatever the task."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.jsonl.ids import Id
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.base import Task

Triple = tuple[str, str, str]
_SHOWN = 160


@dataclass(frozen=True)
class Secret:
    """What nobody may see: the label, or another value that only gold has.

    values: one a line, strings for classes or numbers; None: the line has none. answer: whether it is the answer itself
    (a label), not something beside it. grave: whether public ids, order or columns must not tell it; which
    system wrote a text is less than that.
    """

    name: str
    values: Sequence[str | float | None]
    answer: bool = True
    grave: bool = True

    @property
    def numeric(self) -> bool:
        return all(isinstance(value, float) for value in self.values)


@dataclass
class Split:
    """gold: as the task reads it. first_line: of the file, where its first item stands.

    questions: what is asked, to the letter, as participants see it. texts: the same as words, for near duplicates;
    empty: none are looked for. answers: what is right, comparable. triples: facts that each line is about (true and
    false ones), for leakage. columns: what the file holds beside the task's format, by name. published: the file is in
    a layout that was published as it is, so its order and its columns are public too. has_ids: of its own, not numbers
    given when it was read.
    """

    task: Task[Any, Any, Any]
    file: str
    gold: Any
    ids: list[Id]
    groups: list[Id]
    slices: list[dict[str, SliceValue] | None]
    questions: list[Hashable]
    texts: list[str]
    answers: list[Hashable]
    secrets: list[Secret]
    triples: list[list[Triple]] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    first_line: int = 1
    published: bool = False
    has_ids: bool = True

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        """The file's, without its folders."""
        return Path(self.file).name

    def line(self, place: int) -> int:
        """Every line of a file that was read is an item, so the place tells the line."""
        return place + self.first_line

    def asked(self, place: int) -> str:
        """What a line asks, as one short text."""
        question = self.questions[place]
        parts = question if isinstance(question, tuple) else (question,)
        text = " | ".join(" ".join(str(part).split()) for part in parts if part is not None)
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"

    def column(self, dimension: str) -> list[SliceValue | None]:
        """The slice value of every line."""
        return [slices.get(dimension) if slices else None for slices in self.slices]
