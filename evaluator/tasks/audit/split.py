"""A split in the form that audits and baselines of all tasks use: columns with one entry per gold line."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from evaluator.jsonl.ids import Id
from evaluator.jsonl.tables import FIRST_ROW, table_format
from evaluator.outcomes.table import SliceValue
from evaluator.statistics.ngrams import tokens
from evaluator.tasks.audit.findings import Finding

Triple = tuple[str, str, str]
_ORIGIN = "origin"
_SHOWN = 160


class AnswerKind(enum.Enum):
    """The kind of answer that the lines have: a label, a human rating, or a set (of facts or of mentions)."""

    LABEL = "label"
    RATING = "rating"
    SET = "set"


class QueriedTriple(NamedTuple):
    """A triple that a line asks about; an answer replaces its missing subject or object.

    subjects, objects: all known mentions of the missing subject or of the missing object. Both are empty if the line
    asks about a complete triple.
    """

    subject: str
    relation: str
    object: str
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Secret:
    """A confidential column of the gold: the answers, or another property that only gold has.

    values: one per line, strings for classes or floats for numbers; None: the line has no value. answer: True for the
    answers themselves, False for another property. is_serious: True if the audit reports an error when public ids,
    order or columns reveal the values; False if it reports a warning, as for the system that wrote a text.
    """

    name: str
    values: Sequence[str | float | None]
    answer: bool = True
    is_serious: bool = True

    @property
    def numeric(self) -> bool:
        return all(isinstance(value, float) for value in self.values)


@dataclass(kw_only=True)
class AuditColumns:
    """A task's gold as columns for audits and baselines: lists with one entry per gold line, in gold order.

    questions: the part of the line that participants see, as a value that is equal for equal questions; None: the line
    has no such part that can be compared.
    answers: the right answer, as a value that is equal for equal answers.
    answer_kind: the kind of all answers.
    secrets: the columns that must not be revealed; the first is the answer.
    texts: the question as a text, for a search of near-duplicates; an empty list: no search.
    labels: all labels of the task (not one per line); empty: those that occur in the gold.
    triples: the true and false facts that each line is about, for a search of leakage.
    queried_triples: for a task that asks about triples, all of them in line order, any number per line; else None.
    labelled_texts: the text whose words may reveal the label, such as a claim without its evidence; an empty list:
    there is none.
    evidence: the sentence by which the labelled text is judged; None: the line has none.
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
    """The gold of one split, with the file that it comes from.

    gold: the parsed gold, as `Task.read_gold` returns it.
    columns: columns of the file that are not part of the task's format, by name.
    first_line: the line number of the first gold line in the file, in a table the number of the first row.
    published: True if the file has the layout of a published dataset, so that its order and columns are public too.
    has_ids: False if the file has no ids, and its lines were numbered when it was read.
    """

    file: str
    gold: Any
    columns: dict[str, list[Any]] = field(default_factory=dict)
    first_line: int = 1
    published: bool = False
    has_ids: bool = True

    @classmethod
    def of(cls, columns: AuditColumns, file: str, gold: Any, **more: Any) -> Self:
        """Build a split from gold that `Task.read_gold` has returned.

        columns: from `TaskAudit.columns`. file: the path of the gold file. more: further fields of the split. If lines
        have a slice `origin`, it becomes a further secret column.
        """
        split = cls(file=file, gold=gold, **vars(columns), **more)
        split.first_line = FIRST_ROW if table_format(file) else 1
        # The origin is a line's role in its group, which can reveal the answer. Other slices say how a line was chosen.
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
        """The name of the split's file, without folders."""
        return Path(self.file).name

    @property
    def states_facts(self) -> bool:
        """True if systems have to extract facts from the lines' texts."""
        return bool(self.triples) and self.queried_triples is None

    def line(self, index: int) -> int:
        """Return the line number in the file of the gold line with this index."""
        return index + self.first_line

    def queried(self, index: int) -> str:
        """Return the question of a gold line, as participants see it, as text of at most 160 characters.

        index: the index of the gold line.
        """
        question = self.questions[index]
        parts = question if isinstance(question, tuple) else (question,)
        text = " | ".join(" ".join(str(part).split()) for part in parts if part is not None)
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"

    def column(self, dimension: str) -> list[SliceValue | None]:
        """Return each line's value of this dimension; None for a line without one."""
        return [slices.get(dimension) if slices else None for slices in self.slices]


def _no_findings(split: Split) -> Iterator[Finding]:
    return iter(())


@dataclass(frozen=True)
class TaskAudit:
    """A task's parts of the audit.

    columns: returns parsed gold as columns, such as questions and answers, which audits and baselines can use. check:
    yields the findings that only this task can make, on a split whose `gold` is a result of `Task.read_gold`.
    """

    columns: Callable[[Any], AuditColumns]
    check: Callable[[Split], Iterator[Finding]] = _no_findings


def as_words(question: Hashable) -> Hashable:
    """Return a question as its lower-case words, so that questions can be compared regardless of case and punctuation.

    question: as in `AuditColumns.questions`; None gives None. A question without words is returned unchanged.
    """
    if question is None:
        return None
    parts = question if isinstance(question, tuple) else (question,)
    words = tuple(tuple(tokens(part)) if isinstance(part, str) else part for part in parts)
    return words if any(words) else question


def text_or_empty(value: str | msgspec.UnsetType) -> str:
    """Return the text if it has at least one word, else an empty text."""
    return value if isinstance(value, str) and tokens(value) else ""


def rarest(values: Sequence[Sequence[str]]) -> list[str]:
    """Return for each line the one of its values that is rarest over all lines; "" for a line without values.

    Of equally rare values the alphabetically first is returned.
    """
    counts = Counter(value for line_values in values for value in line_values)
    return [min(line_values, key=lambda value: (counts[value], value), default="") for line_values in values]
