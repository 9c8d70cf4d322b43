"""Readers of gold, public inputs and predictions."""

from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import GoldError, InputsError, PredictionError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister, GoldLine, Id, IdRegister, count_gold_keys, format_ids, report_missing
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.outcomes.table import SliceValue


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


# A format contains the keys that a line may have, and counts the known keys of a line: other keys cause a warning.
GOLD = Format(
    GoldText,
    Schema(frozenset({"id", "text", "label", "group", "slices"}), {"slices": Schema(frozenset(), free=True)}),
    lambda line: 3 + count_gold_keys(line),
)
INPUTS = Format(Text, Schema(frozenset({"id", "text"})), lambda _: 2)
PREDICTIONS = Format(Answer, Schema(frozenset({"id", "label"})), lambda _: 2)


@dataclass(frozen=True)
class ValidationData:
    """The data for validating predictions: the index of each id in gold, and the classes, None if unknown."""

    index_of: dict[Id, int]
    classes: list[str] | None


@dataclass
class Gold:
    """The content of a gold file, in the order of the lines. ids: id -> index of its line; classes: sorted."""

    ids: dict[Id, int]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)


@dataclass
class Answers:
    """One label per gold text, in the order of the gold; None: no prediction."""

    labels: list[str | None]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Read gold. Raises GoldError with all problems of the file."""
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    for number, line in reader.records(stream):
        slices = None if line.slices is msgspec.UNSET else line.slices
        if slices and "label" in slices:
            reader.problems.add(number, "slices has a dimension that the task itself adds", '"label"', "another name")
        if not register.add(line.id, number):
            continue
        gold.texts.append(Text(line.id, line.text))
        gold.labels.append(line.label)
        gold.groups.append(line.id if line.group is msgspec.UNSET else line.group)
        gold.slices.append(slices)
    reader.problems.raise_if_any()
    gold.classes = sorted(set(gold.labels))
    gold.n_lines, gold.warnings = reader.n_lines, reader.warnings
    return gold


def read_inputs(stream: BinaryIO, file: str, classes: list[str] | None, limits: ReadLimits | None) -> ValidationData:
    """Read public inputs. Raises InputsError with all problems of the file."""
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems)
    for number, line in reader.records(stream):
        register.add(line.id, number)
    reader.problems.raise_if_any()
    return ValidationData(register.indices, classes)


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Read predictions. Raises PredictionError unless every id has one label, which must be one of the classes."""
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.index_of, reader.problems)
    labels: list[str | None] = [None] * len(known.index_of)
    for number, line in reader.records(stream):
        index = register.index_of(line.id, number)
        if known.classes is not None and line.label not in known.classes:
            reader.problems.add(number, "unknown label", shown(line.label), f"one of {format_ids(known.classes)}")
        elif index is not None:
            labels[index] = line.label
    report_missing(reader.problems, register.silent, reader.n_unread)
    reader.problems.raise_if_any()
    return Answers(labels, reader.n_lines, reader.warnings)
