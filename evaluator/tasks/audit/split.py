"""A split as audits and baselines see it: one entry a line in every column, whatever the task."""

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
    """Kind of answer that a line has: one class, one number that people gave, or a set (facts, mentions)."""

    LABEL = "label"
    RATING = "rating"
    SET = "set"


class AskedTriple(NamedTuple):
    """A triple that a line asks about. subjects, objects: all mentions of the end that is asked for, where they are
    known."""

    subject: str
    relation: str
    object: str
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


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


@dataclass(kw_only=True)
class AuditColumns:
    """What a task says of its gold for audits and baselines; every list has one entry a gold line, in its order.

    questions: what is asked, to the letter, as participants see it; None: nothing that could be compared. texts: the
    same as words, for near duplicates; empty: none are looked for. answers: what is right, comparable. secrets: the
    answer first. labels: for LABEL, the labels that the task has; empty: those of the gold. triples: facts that each
    line is about (true and false ones), for leakage. asked_triples: for tasks that ask about triples, in the order of
    the lines; None for others. labelled_texts: for LABEL, the text whose words may give the label away: of a claim with
    its evidence the claim; empty: there is none. evidence: the sentence that such a text is judged by, None without.
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
    asked_triples: list[AskedTriple] | None = None
    labelled_texts: list[str] = field(default_factory=list)
    evidence: list[str | None] = field(default_factory=list)


@dataclass(kw_only=True)
class Split(AuditColumns):
    """gold: as the task reads it. first_line: of the file, where its first item stands.

    columns: what the file holds beside the task's format, by name. published: the file is in a layout that was
    published as it is, so its order and its columns are public too. has_ids: of its own, not numbers given when it was
    read.
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
        """The split of a gold that the task has read."""
        split = cls(task=task, file=file, gold=gold, **vars(task.audit_columns(gold)))
        # Which member of its group a line is. Other slices say how a line was chosen, not what is right.
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
        """The file's, without its folders."""
        return Path(self.file).name

    @property
    def measure(self) -> Measure:
        """The measure that ranks systems on this gold."""
        return self.task.measure(self.task.primary(self.task.facts(self.gold)))

    @property
    def states_facts(self) -> bool:
        """Whether facts are to be found by reading the lines' texts."""
        return bool(self.triples) and self.asked_triples is None

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


def as_words(question: Hashable) -> Hashable:
    """The question in lower-cased words, comparable; None: nothing is asked that could be compared."""
    if question is None:
        return None
    parts = question if isinstance(question, tuple) else (question,)
    words = tuple(tuple(tokens(part)) if isinstance(part, str) else part for part in parts)
    return words if any(words) else question


def text_or_empty(value: str | msgspec.UnsetType) -> str:
    """The text; empty where there is none, or none with a word."""
    return value if isinstance(value, str) and tokens(value) else ""


def rarest(values: Sequence[Sequence[str]]) -> list[str]:
    """Of each line's values the one that the fewest have, of equals the first in the alphabet; "" without any."""
    counts = Counter(value for some in values for value in some)
    return [min(some, key=lambda value: (counts[value], value), default="") for some in values]
