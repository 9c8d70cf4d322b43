"""Thresholds of near-duplicate submissions: both shares must be reached. docs/adr/0018 gives the reasons."""

EQUAL = 0.995
"""Share of units with the same answer, of the units that either submission answers."""
SHARED_ERRORS = 0.95
"""Share of units where both err with the same answer, of the units where either errs."""
