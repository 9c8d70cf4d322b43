"""Units that only one of two systems has right: their number in each slice, and the units themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec
import numpy as np

from evaluator.errors import GoldError, ProblemList
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.measures.base import Measure
from evaluator.measures.slices import slices_of
from evaluator.outcomes.pooled import check_alike
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.score import existing
from evaluator.statistics.mcnemar import right_or_wrong

MOST_ITEMS = 50
"""The maximum number of units listed for each system."""
MOST_TEXT = 600
"""The maximum number of characters shown of a gold line."""


@dataclass(frozen=True, slots=True)
class Count:
    """Counts of units of one slice, by one measure that is a share of right units."""

    measure: str
    slice: Mapping[str, SliceValue]
    both: int
    a_only: int
    b_only: int
    neither: int

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"slice": dict(self.slice)}


@dataclass(frozen=True, slots=True)
class Items:
    """Units that only one system has right by one measure, at most MOST_ITEMS each, in gold order.

    Each is (id, its gold line cut to MOST_TEXT characters).
    """

    measure: str
    a_only: Sequence[tuple[str | int, str]]
    b_only: Sequence[tuple[str | int, str]]

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class _Line(msgspec.Struct):
    id: str | int = ""  # documents have another key for it


def counts(a: Outcomes, b: Outcomes, measures: Sequence[Measure]) -> Iterator[Count]:
    """Yield the counts of every measure that is a share of units right or wrong, on the whole and each one-way slice.

    Raises UsageError where the two are not of one gold.
    """
    check_alike(a, b)
    tests = {measure.name: right_or_wrong(measure, a, b) for measure in measures}
    sample = Sample(View.whole(a), np.ones((a.n_groups, 1)))
    for slice_ in slices_of(sample, existing(measures, a.facts), None):
        for measure in slice_.measures:
            test = tests[measure.name]
            if test is not None:
                yield Count(measure.name, slice_.slice, *test.counts(slice_.view.rows))


def items(a: Outcomes, b: Outcomes, measures: Sequence[Measure], gold: BinaryIO, name: str) -> Iterator[Items]:
    """Yield the units themselves; nothing where a row of the outcomes is not a line of the gold.

    Raises GoldError for a file over the limits.
    """
    body = b"".join(chunks(gold, ReadLimits(), ProblemList(name, GoldError)))
    lines = body.splitlines()
    if not len(lines) == a.n_rows == a.n_units:
        return
    for measure in existing(measures, a.facts):
        test = right_or_wrong(measure, a, b)
        if test is not None:
            a_only, b_only = ([_item(lines[row]) for row in rows[:MOST_ITEMS]] for rows in test.discordant())
            yield Items(measure.name, a_only, b_only)


def _item(line: bytes) -> tuple[str | int, str]:
    text = line.decode()
    shown = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\N{HORIZONTAL ELLIPSIS}"
    return msgspec.json.decode(line, type=_Line).id, shown
