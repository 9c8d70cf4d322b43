"""Recompute boards and plots from stored runs, to verify what was shown."""
