"""Verification of published boards and plot data, which are recomputed from stored runs and compared."""
