"""What a corrected gold file changes beside the one before it, item by item."""

from evaluator.curation.gold_diff.diff import KINDS, Change, Difference, GoldFile, Item, difference

__all__ = ["KINDS", "Change", "Difference", "GoldFile", "Item", "difference"]
