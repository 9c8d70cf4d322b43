"""The order of a column and its ties: what ranks, AUROC and concordance rest on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.outcomes import Numbers
from evaluator.samples import Rows

_SIGN = np.uint64(1 << 63)
_RADIX_FROM = 1 << 15  # rows, from where passes over 16 bits beat a comparing sort


def ascending(values: Numbers) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """The places of the values from the least to the greatest, and whether each differs from the one before.

    Equal ones, -0.0 and 0.0 too, come as they stand.
    """
    plain = values + 0.0  # -0.0 becomes 0.0
    if len(plain) < _RADIX_FROM:
        order = np.argsort(plain, kind="stable")
        inside = plain[order]
        return order, np.append(True, inside[1:] != inside[:-1])[: len(order)]
    negative = (plain.view(np.int64) >> 63).view(np.uint64)  # all bits, or none
    negative |= _SIGN
    negative ^= plain.view(np.uint64)
    keys = negative  # unsigned integers in the order of the floats
    order = np.argsort((keys >> np.uint64(16)).astype(np.uint16), kind="stable")
    for shift in (32, 48):
        digits = (keys >> np.uint64(shift)).astype(np.uint16)
        order = np.take(order, np.argsort(np.take(digits, order), kind="stable"))
    return _order_last_bits(keys, order)


def _order_last_bits(keys: npt.NDArray[np.uint64], order: Rows) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """order: by all but the last 16 bits of the keys. Few keys differ in those only."""
    inside = np.take(keys, order)
    step = np.empty_like(inside)
    np.bitwise_xor(inside[1:], inside[:-1], out=step[1:])
    step[:1] = _SIGN
    changes = step != 0
    alike = step < 1 << 16
    if not np.any(alike & changes):
        return order, changes
    unsure = alike.copy()
    unsure[:-1] |= alike[1:]
    places = np.flatnonzero(unsure)
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
