"""Results of single items, that is gold lines, which are computed from the outcomes in the way that a task declares."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.measures.base import LinearCombination, Measure, Ratio
from evaluator.outcomes.table import Numbers, Outcomes

_DECIMALS = 9  # 1 / (1 / 49) is 49 again

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ItemRows:
    """The rows of the outcomes that belong to the items of a gold, or to those items that are in a slice.

    rows: indices of rows; items: for each of them, the index of its item; n_items: number of items of the gold.
    """

    outcomes: Outcomes
    rows: Indices
    items: Indices
    n_items: int

    def column(self, statistic: str) -> Numbers:
        return self.outcomes.statistics[statistic][self.rows]

    def total(self, statistic: str) -> Numbers:
        """Return the sum of a statistic over the rows of each item."""
        sums = np.bincount(self.items, weights=self.column(statistic), minlength=self.n_items)
        return sums.astype(np.float64)

    def by_item(self, column: Numbers) -> Numbers:
        """Return a column with one number per row as one number per item, NaN for items without a row."""
        values = np.full(self.n_items, np.nan)
        values[self.items] = column
        return values


@dataclass(frozen=True)
class Results:
    """Results of the items of a gold.

    shares: 1 for an item that is right, 0 for one that is wrong, a number between if it is partly right; NaN if the
    item does not count. values: title -> one number per item, NaN for none. cells: each item's cell of the confusion
    matrix, as (gold label, predicted label); None: the outcomes have no labels.
    """

    shares: Numbers
    values: Mapping[str, Numbers]
    cells: Sequence[tuple[str, str]] | None = None


@dataclass(frozen=True)
class ItemValue:
    """A number that is shown with an item's result: a ratio of sums over the item's rows.

    above, below: numerator and denominator. If `below` is None, the number is the numerator alone; if the denominator
    is 0, there is none. Outcomes without one of the statistics have no such value.
    """

    title: str
    above: LinearCombination
    below: LinearCombination | None = None

    def exists(self, outcomes: Outcomes) -> bool:
        terms = [*self.above.terms, *(self.below.terms if self.below else ())]
        return all(name in outcomes.statistics for name in terms)

    def of(self, rows: ItemRows) -> Numbers:
        above = self.above.of(rows)
        return above if self.below is None else _ratio(above, self.below.of(rows))


class ItemResult(ABC):
    """The way in which a task rates single items.

    doc: for readers: what makes an item right, as a sentence without a subject.
    """

    doc: str

    @abstractmethod
    def results(self, measure: Measure, rows: ItemRows) -> Results:
        """Return the items' results. measure: the one that ranks systems."""


@dataclass(frozen=True)
class ByMeasure(ItemResult):
    """Rates an item by the measure that ranks systems, computed on the item alone. The measure must be a Ratio.

    An item that adds nothing to the measure's denominator is neither right nor wrong. values: further numbers that are
    shown with an item.
    """

    doc: str
    values: tuple[ItemValue, ...] = ()

    def results(self, measure: Measure, rows: ItemRows) -> Results:
        if not isinstance(measure, Ratio):
            raise TypeError(f"{measure.name} rates no single items, expected a Ratio")
        shares = _ratio(measure.numerator.of(rows), measure.denominator.of(rows))
        has_rows = np.isin(np.arange(rows.n_items), rows.items)
        existing = [value for value in self.values if value.exists(rows.outcomes)]
        return Results(shares, {value.title: np.where(has_rows, value.of(rows), np.nan) for value in existing})


@dataclass(frozen=True)
class ByRank(ItemResult):
    """Rates an item by the rank that its score gives it, in tasks where gold and the system give each item one number.

    Rank 1 is the highest. Items with equal scores have the mean of their ranks. Items with equal gold, such as all true
    claims, share a range of ranks; an item is right if its rank by score is in this range. Otherwise its share is 1 - d
    / (n - 1), where d is the number of ranks between its rank and the range, and n the number of items.

    gold, score: names of statistics, with one row per item. labels: the label of each number of the gold, in tasks with
    labels, otherwise None. The predicted label of an item is the gold label at its rank, if the items are ordered by
    gold.
    """

    doc: str
    gold: str
    score: str
    labels: Mapping[float, str] | None = None

    def results(self, measure: Measure, rows: ItemRows) -> Results:
        gold = -rows.column(self.gold)  # negated: the highest number has rank 1
        ordered = np.sort(gold)
        first, last = _rank_range(gold, ordered)
        score = -rows.column(self.score)
        first_of_score, last_of_score = _rank_range(score, np.sort(score))
        rank = (first_of_score + last_of_score) / 2
        too_high = np.maximum(first - rank, 0.0) - np.maximum(rank - last, 0.0)
        shares = rows.by_item(1.0 - np.abs(too_high) / max(len(gold) - 1, 1))
        columns = {
            "Rank by score": rank,
            "First rank by gold": first,
            "Last rank by gold": last,
            "Ranks too high": too_high,
        }
        values = {title: rows.by_item(column) for title, column in columns.items()}
        nearest = np.asarray(np.where(too_high > 0, np.floor(rank), np.ceil(rank)), dtype=np.float64)
        return Results(shares, values, self._cells(rows, ordered, gold, nearest))

    def _cells(
        self, rows: ItemRows, ordered: Numbers, gold: Numbers, rank: Numbers
    ) -> Sequence[tuple[str, str]] | None:
        """Return each item's cell of the confusion matrix; None in tasks without labels.

        ordered: the negated numbers of the gold, ascending. gold: the negated number of each row. rank: the rank of
        each row, a whole number.
        """
        if self.labels is None:
            return None
        predicted = ordered[rank.astype(np.int64) - 1]
        cells = [("", "")] * rows.n_items
        for item, a, b in zip(rows.items.tolist(), gold.tolist(), predicted.tolist(), strict=True):
            cells[item] = (self.labels[-a], self.labels[-b])
        return cells


def _rank_range(values: Numbers, ordered: Numbers) -> tuple[Numbers, Numbers]:
    """Return (first rank, last rank), from 1, that each of `values` shares with the numbers equal to it.

    ordered: all numbers, ascending.
    """
    first = np.asarray(np.searchsorted(ordered, values, side="left"), dtype=np.float64)
    last = np.asarray(np.searchsorted(ordered, values, side="right"), dtype=np.float64)
    return first + 1.0, last


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    """Return above / below, rounded so that reciprocals of whole numbers are whole; NaN where `below` is 0."""
    ratios: Numbers = np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
    return ratios.round(_DECIMALS)
