"""Container images as systems and as scorers: storage, uploads, and execution by workers with an engine."""
