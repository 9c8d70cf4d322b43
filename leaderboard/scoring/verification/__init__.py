"""Verification of published boards and plot data by recomputing them from stored runs."""
