"""The `holdout-eval` command: evaluation and curation, running a system locally, and requests to a server."""
