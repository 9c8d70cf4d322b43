"""Item-by-item differences between a gold file and its correction."""

from evaluator.curation.gold_diff.diff import KINDS, Change, Difference, GoldFile, Item, compare

__all__ = ["KINDS", "Change", "Difference", "GoldFile", "Item", "compare"]
