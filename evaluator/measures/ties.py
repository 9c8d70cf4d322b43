"""The order and the ties of a column, from which ranks, AUROC and Kendall's tau are computed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Rows

_BINS = 2.0**32 - 2
_BINNED_FROM = 1 << 15  # from this number of rows on, bins are faster than a comparison sort


def ascending(values: Numbers) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Return (indices that sort the values in ascending order, mask of the first of each run of equal values).

    The mask is over the sorted values. The sort is stable; -0.0 equals 0.0.
    """
    result = _by_bins(values) if len(values) >= _BINNED_FROM else None
    if result is None:
        order = np.argsort(values, kind="stable")
        ordered = np.take(values, order)
        result = order, np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    return result


def _by_bins(values: Numbers) -> tuple[Rows, npt.NDArray[np.bool_]] | None:
    """Return the same as `ascending`, by a radix sort.

    The values are mapped to 2**32 bins of equal width; two passes sort by the 16-bit halves of the bin number. The few
    values that share a bin are then sorted by comparison. None: bins cannot be made, as for equal values; or over a
    quarter of the values share a bin, and not only with equal values.
    """
    with np.errstate(over="ignore", divide="ignore"):
        minimum = values.min()
        scale = _BINS / (values.max() - minimum)
    if not 0 < scale < np.inf:
        return None
    bins = ((values - minimum) * scale).astype(np.uint32)
    order = np.argsort(bins.astype(np.uint16), kind="stable")
    upper = (bins >> np.uint32(16)).astype(np.uint16)
    order = np.take(order, np.argsort(np.take(upper, order), kind="stable"))
    ordered = np.take(values, order)
    bins = np.take(bins, order)
    changes = np.ones(len(order), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    shared = np.zeros(len(order), dtype=np.bool_)
    np.equal(bins[1:], bins[:-1], out=shared[1:])
    if not np.any(shared & changes):
        return order, changes
    shared[:-1] |= shared[1:]
    in_shared_bins = np.flatnonzero(shared)
    if len(in_shared_bins) > len(order) // 4:
        return None
    resorted = np.argsort(ordered[in_shared_bins], kind="stable")
    order[in_shared_bins] = order[in_shared_bins][resorted]
    ordered[in_shared_bins] = ordered[in_shared_bins][resorted]
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return order, changes


@dataclass(frozen=True)
class Ties:
    """A column's values in ascending order, with the boundaries of its distinct values.

    order: the indices that sort the column; starts: for each distinct value, the position in `order` at which it
    begins.
    """

    order: Rows
    starts: Rows

    @classmethod
    def of(cls, values: Numbers) -> "Ties":
        order, changes = ascending(values)
        return cls(order, np.flatnonzero(changes))

    def __len__(self) -> int:
        """Return the number of distinct values in the column."""
        return len(self.starts)

    @cached_property
    def codes(self) -> Rows:
        """Index of each value of the column among the distinct values, 0 for the smallest."""
        sizes = np.diff(self.starts, append=len(self.order))
        codes = np.empty(len(self.order), dtype=np.int64)
        codes[self.order] = np.repeat(np.arange(len(self)), sizes)
        return codes

    @cached_property
    def begins_downward(self) -> npt.NDArray[np.bool_]:
        """Mask over the values in descending order: True for the first of each run of equal values."""
        last = np.append(self.starts[1:], len(self.order)) - 1
        begins = np.zeros(len(self.order), dtype=np.bool_)
        begins[len(self.order) - 1 - last] = True
        return begins

    def totals(self, weights: npt.NDArray[np.float64]) -> Numbers:
        """Return the summed weight of the rows with each distinct value: resamples x distinct values, ascending.

        weights: resamples x rows, with the rows in `order`, that is in ascending order of values.
        """
        if len(self) == len(self.order):
            return weights
        return np.add.reduceat(weights, self.starts, axis=1)
