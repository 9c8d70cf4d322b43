"""A split as audits and baselines see it: columns with one entry per line, for any task."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from evaluator.jsonl.ids import Id
from evaluator.measures.base import Measure
from evaluator.outcomes.table import SliceValue
from evaluator.statistics.ngrams import tokens

if TYPE_CHECKING:
    from evaluator.tasks.base import Task

Triple = tuple[str, str, str]
_ORIGIN = "origin"
_SHOWN = 160


class AnswerKind(enum.Enum):
    """The kind of answer of a line: one class, one human rating, or a set (facts, mentions)."""

    LABEL = "label"
    RATING = "rating"
    SET = "set"


class QueriedTriple(NamedTuple):
    """A triple that a line asks about. subjects, objects: all mentions of the end that is asked for, where known."""

    subject: str
    relation: str
    object: str
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Secret:
    """A confidential value: the label, or another value that only gold has.

    values: one per line, strings for classes or numbers; None: the line has none. answer: True for the answer itself (a
    label), False for another property. grave: True if public ids, order or columns must not reveal it; which system
    wrote a text is less critical.
    """

    name: str
    values: Sequence[str | float | None]
    answer: bool = True
    grave: bool = True

    @property
    def numeric(self) -> bool:
        return all(isinstance(value, float) for value in self.values)


@dataclass(kw_only=True)
class AuditColumns:
    """A task's gold for audits and baselines; every list has one entry per gold line, in gold order.

    questions: the exact question as participants see it; None: nothing comparable.
    texts: the question as words, for near-duplicates; empty: none are searched.
    answers: the right answer, comparable.
    secrets: the answer first.
    labels: for LABEL, the labels of the task; empty: those of the gold.
    triples: the facts that each line is about (true and false ones), for leakage.
    asked_triples: for tasks that ask about triples, in line order; None for others.
    labelled_texts: for LABEL, the text whose words may give the label away (of a claim with its evidence, the claim);
    empty: there is none.
    evidence: the sentence by which such a text is judged, None without.
    """

    ids: list[Id]
    groups: list[Id]
    slices: list[dict[str, SliceValue] | None]
    questions: Sequence[Hashable]
    answers: Sequence[Hashable]
    answer_kind: AnswerKind
    secrets: list[Secret]
    texts: list[str] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    triples: list[list[Triple]] = field(default_factory=list)
    queried_triples: list[QueriedTriple] | None = None
    labelled_texts: list[str] = field(default_factory=list)
    evidence: list[str | None] = field(default_factory=list)


@dataclass(kw_only=True)
class Split(AuditColumns):
    """A gold with its columns.

    gold: as the task reads it.
    columns: further columns of the file that are not part of the task's format, by name.
    first_line: the line number of the file's first item.
    published: the file is in a layout that was published unchanged, so its order and its columns are public too.
    has_ids: False if ids were numbered when the file was read.
    """

    task: Task[Any, Any, Any]
    file: str
    gold: Any
    columns: dict[str, list[Any]] = field(default_factory=dict)
    first_line: int = 1
    published: bool = False
    has_ids: bool = True

    @classmethod
    def of(cls, task: Task[Any, Any, Any], file: str, gold: Any) -> Split:
        """Build the split of a gold that the task has read."""
        split = cls(task=task, file=file, gold=gold, **vars(task.audit_columns(gold)))
        # The origin identifies a line's role in its group. Other slices describe how a line was chosen, not its answer.
        origins = split.column(_ORIGIN)
        if any(value is not None for value in origins):
            split.secrets.append(
                Secret(_ORIGIN, [None if value is None else str(value) for value in origins], answer=False)
            )
        return split

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        """The file name without its folders."""
        return Path(self.file).name

    @property
    def measure(self) -> Measure:
        """The measure that ranks systems on this gold."""
        return self.task.measure(self.task.primary(self.task.facts(self.gold)))

    @property
    def states_facts(self) -> bool:
        """True if facts are to be extracted from the lines' texts."""
        return bool(self.triples) and self.queried_triples is None

    def line(self, index: int) -> int:
        """Return the line number of an item: every line of a parsed file is an item."""
        return index + self.first_line

    def queried(self, index: int) -> str:
        """Return a line's question as one short text."""
        question = self.questions[index]
        parts = question if isinstance(question, tuple) else (question,)
        text = " | ".join(" ".join(str(part).split()) for part in parts if part is not None)
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"

    def column(self, dimension: str) -> list[SliceValue | None]:
        """Return the slice value of every line."""
        return [slices.get(dimension) if slices else None for slices in self.slices]


def as_words(question: Hashable) -> Hashable:
    """Return the question in lower-cased words, comparable; None: nothing comparable is asked."""
    if question is None:
        return None
    parts = question if isinstance(question, tuple) else (question,)
    words = tuple(tuple(tokens(part)) if isinstance(part, str) else part for part in parts)
    return words if any(words) else question


def text_or_empty(value: str | msgspec.UnsetType) -> str:
    """Return the text; empty where there is none, or none with a word."""
    return value if isinstance(value, str) and tokens(value) else ""


def rarest(values: Sequence[Sequence[str]]) -> list[str]:
    """Return for each line its value that the fewest lines have; ties alphabetically; "" without values."""
    counts = Counter(value for line_values in values for value in line_values)
    return [min(line_values, key=lambda value: (counts[value], value), default="") for line_values in values]
