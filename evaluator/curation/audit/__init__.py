"""Audit of a split: errors in the data and leakage of the answers. One module per check; `report` runs all checks."""
