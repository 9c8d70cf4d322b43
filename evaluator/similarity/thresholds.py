"""Thresholds for near-duplicate submissions: for equal answers and for shared errors. A pair must reach both.

docs/adr/0018 gives the reasons.
"""

EQUAL = 0.995
"""Fraction of units with the same answer, among the units that either submission answers."""
SHARED_ERRORS = 0.95
"""Fraction of units where both submissions err with the same answer, among the units where either errs."""
