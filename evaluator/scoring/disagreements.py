"""Discordant units, which exactly one of two systems has right: their number in each slice, and a list of them."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import msgspec
import numpy as np

from evaluator.jsonl.tables import lines_of
from evaluator.measures.base import Measure
from evaluator.measures.slices import slices_of
from evaluator.outcomes.pooled import check_alike
from evaluator.outcomes.table import Outcomes, SliceValue
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.score import existing
from evaluator.statistics.mcnemar import paired_outcomes

MOST_ITEMS = 50
"""The maximum number of units listed for each system."""
MOST_TEXT = 600
"""The maximum number of characters shown of a gold line."""


class AgreementCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of the units of one slice that both, only one or neither of two systems (a and b) has right.

    measure: the name of a measure that is a proportion of right units, such as accuracy.
    """

    measure: str
    slice: dict[str, SliceValue]
    both: int
    a_only: int
    b_only: int
    neither: int


class DiscordantUnits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Units that only system a, and units that only system b, has right by one measure.

    a_only, b_only: the first MOST_ITEMS of these units, in gold order, each as (id, its gold line cut to MOST_TEXT
    characters).
    """

    measure: str
    a_only: list[tuple[str | int, str]]
    b_only: list[tuple[str | int, str]]


class _Line(msgspec.Struct):
    id: str | int = ""  # "" for gold lines that are documents, whose id has another key


def counts(a: Outcomes, b: Outcomes, measures: Sequence[Measure]) -> Iterator[AgreementCounts]:
    """Yield how many units both, only one or neither of two systems has right, on the whole gold and one-way slices.

    This is done for every measure that is a proportion of right units. Raises UsageError if the outcomes a and b belong
    to different golds.
    """
    check_alike(a, b)
    tests = {measure.name: paired_outcomes(measure, a, b) for measure in measures}
    sample = Sample(View.whole(a), np.ones((a.n_groups, 1)))
    for slice_ in slices_of(sample, existing(measures, a.facts), None):
        for measure in slice_.measures:
            test = tests[measure.name]
            if test is not None:
                yield AgreementCounts(measure.name, dict(slice_.slice), *test.counts(slice_.view.rows))


def items(
    a: Outcomes, b: Outcomes, measures: Sequence[Measure], gold: BinaryIO, name: str
) -> Iterator[DiscordantUnits]:
    """Yield the units that only one of two systems has right, for every measure that is a proportion of right units.

    Yields nothing unless the rows of the outcomes are the lines of the gold file, one to one. gold, name: the gold file
    and its name. Raises GoldError if the file exceeds the limits of size.
    """
    lines = lines_of(gold, name)
    if not len(lines) == a.n_rows == a.n_units:
        return
    for measure in existing(measures, a.facts):
        test = paired_outcomes(measure, a, b)
        if test is not None:
            a_only, b_only = ([_item(lines[row]) for row in rows[:MOST_ITEMS]] for rows in test.discordant())
            yield DiscordantUnits(measure.name, a_only, b_only)


def _item(line: bytes) -> tuple[str | int, str]:
    text = line.decode()
    shown = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\N{HORIZONTAL ELLIPSIS}"
    return msgspec.json.decode(line, type=_Line).id, shown
