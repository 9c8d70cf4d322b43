"""The curator's desk: raw files, generators with previews, drafts, dry runs."""
