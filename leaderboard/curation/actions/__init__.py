"""Curation actions: raw files, generator previews, draft splits, dry runs."""
