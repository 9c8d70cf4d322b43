"""Curation actions: raw files, generator previews, draft splits, baselines."""
