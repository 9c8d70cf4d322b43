"""The order of a column and its ties: what ranks, AUROC and concordance rest on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Rows

_BINS = 2.0**32 - 2
_BINNED_FROM = 1 << 15  # rows, from where bins beat a comparing sort


def ascending(values: Numbers) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """The places of the values from the least to the greatest, and whether each differs from the one before.

    Equal ones, -0.0 and 0.0 too, come as they stand.
    """
    found = _by_bins(values) if len(values) >= _BINNED_FROM else None
    if found is None:
        order = np.argsort(values, kind="stable")
        inside = np.take(values, order)
        found = order, np.append(True, inside[1:] != inside[:-1])[: len(order)]
    return found


def _by_bins(values: Numbers) -> tuple[Rows, npt.NDArray[np.bool_]] | None:
    """The same by two passes over the 16-bit halves of a bin's number, of 2**32 even bins from the least value to the
    greatest; then the few values that share a bin are put in order. None where many share one."""
    with np.errstate(over="ignore", divide="ignore"):
        least = values.min()
        scale = _BINS / (values.max() - least)
    if not 0 < scale < np.inf:
        return None
    bins = ((values - least) * scale).astype(np.uint32)
    order = np.argsort(bins.astype(np.uint16), kind="stable")
    upper = (bins >> np.uint32(16)).astype(np.uint16)
    order = np.take(order, np.argsort(np.take(upper, order), kind="stable"))
    inside = np.take(values, order)
    bins = np.take(bins, order)
    changes = np.ones(len(order), dtype=np.bool_)
    np.not_equal(inside[1:], inside[:-1], out=changes[1:])
    shared = np.zeros(len(order), dtype=np.bool_)
    np.equal(bins[1:], bins[:-1], out=shared[1:])
    if not np.any(shared & changes):
        return order, changes
    shared[:-1] |= shared[1:]
    places = np.flatnonzero(shared)
    if len(places) > len(order) // 4:
        return None
    mended = np.argsort(inside[places], kind="stable")
    order[places] = order[places][mended]
    inside[places] = inside[places][mended]
    np.not_equal(inside[1:], inside[:-1], out=changes[1:])
    return order, changes


@dataclass(frozen=True)
class Ties:
    """A column in ascending order, cut where the value changes.

    order: places in the column; starts: where in the order each distinct value begins.
    """

    order: Rows
    starts: Rows

    @classmethod
    def of(cls, values: Numbers) -> "Ties":
        order, changes = ascending(values)
        return cls(order, np.flatnonzero(changes))

    def __len__(self) -> int:
        """How many distinct values there are."""
        return len(self.starts)

    @cached_property
    def codes(self) -> Rows:
        """The place of each value among the distinct ones, 0 for the least, in the order of the column."""
        sizes = np.diff(self.starts, append=len(self.order))
        codes = np.empty(len(self.order), dtype=np.int64)
        codes[self.order] = np.repeat(np.arange(len(self)), sizes)
        return codes

    @cached_property
    def begins_downward(self) -> npt.NDArray[np.bool_]:
        """Going down the order, the greatest first: whether a place has a lower value than the one before."""
        last = np.append(self.starts[1:], len(self.order)) - 1
        begins = np.zeros(len(self.order), dtype=np.bool_)
        begins[len(self.order) - 1 - last] = True
        return begins

    def totals(self, weights: npt.NDArray[np.float64]) -> Numbers:
        """resamples x distinct values. weights: resamples x rows, in this order."""
        if len(self) == len(self.order):
            return weights
        return np.add.reduceat(weights, self.starts, axis=1)
