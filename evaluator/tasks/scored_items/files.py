"""Predictions in which each id has one finite score, and public inputs, of fact-checking and metric-correlation."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TypeVar

import msgspec
import numpy as np

from evaluator.errors import InputsError, PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister, Id, IdRegister, report_missing
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.outcomes.table import Numbers

IdIndex = Mapping[Id, int]
"""The index of each id in the gold or the inputs. Predictions of scores are validated against nothing else."""


class ScoreLine(msgspec.Struct, gc=False):
    """A line of predictions: the score that a system gives to one id."""

    id: str | int
    score: float


_FEW = 10  # so many equal scores are no chance
_LAYOUT = Format(ScoreLine, Schema(frozenset({"id", "score"})), lambda _: 2)


@dataclass
class Scores:
    """Parsed predictions of one score per id. values: one score per gold line, in gold order."""

    values: Numbers
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def read_scores(stream: BinaryIO, file: str, index_of: IdIndex, limits: ReadLimits | None) -> Scores:
    """Parse predictions. Raises PredictionError for invalid lines, and unless every id has exactly one score.

    file: the file's name in messages. index_of: id -> index of the gold line. limits: limits on the file's size; None:
    the default ones.
    """
    reader = Reader(file, _LAYOUT, PredictionError, limits)
    register = AnswerRegister(index_of, reader.problems)
    values = np.zeros(len(index_of))
    for block in reader.blocks(stream):
        indices = register.answer_all(block.records, block.first)
        if indices is not None and block.records is not None:
            values[indices] = [line.score for line in block.records]
            continue
        for number, line in block.lines():
            index = register.index_of(line.id, number)
            if index is not None:
                values[index] = line.score
    report_missing(reader.problems, register.silent, reader.n_unread)
    reader.problems.raise_if_any()
    return Scores(values, reader.n_lines, reader.warnings, _hints(values, file))


def _hints(values: Numbers, file: str) -> list[str]:
    """Return a list with a hint if all of several scores are equal, as small ones are that a program wrote as 0.0."""
    if len(values) < _FEW or (values != values[0]).any():
        return []
    return [f"{file}: all {len(values)} scores are {values[0]:g}, so that no item ranks above another"]


def no_scores(n_lines: int) -> Scores:
    """Return predictions that carry no information: the same score for all gold lines.

    n_lines: the number of gold lines.
    """
    return Scores(np.zeros(n_lines))


def read_ids(stream: BinaryIO, file: str, layout: Format[Any], limits: ReadLimits | None) -> IdIndex:
    """Return id -> index of the line, for the lines of public inputs. Raises InputsError for invalid lines.

    file: the file's name in messages. layout: the format of the lines. limits: limits on the file's size; None: the
    default ones.
    """
    reader = Reader(file, layout, InputsError, limits)
    register = IdRegister(reader.problems)
    register.add_blocks(reader.blocks(stream))
    reader.problems.raise_if_any()
    return register.indices


class Named(Protocol):
    @property
    def id(self) -> Id: ...


Line = TypeVar("Line", bound=Named)


def salted_order(lines: Iterable[Line], salt: str) -> list[Line]:
    """Return the lines of public inputs in the order of a digest of their ids.

    salt: the key of the digest, which is not secret. The order depends neither on the gold's order nor on the
    alphabetical order of the ids.
    """
    key = salt.encode()
    return sorted(lines, key=lambda line: hashlib.blake2b(repr(line.id).encode(), key=key).digest())
