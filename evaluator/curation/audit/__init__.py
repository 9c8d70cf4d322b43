"""The audit of a split: what is wrong, and what gives its answers away. One module a check; `report` runs all."""
