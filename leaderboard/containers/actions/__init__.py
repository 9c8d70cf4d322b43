"""Container images as systems and as scorers: storage, uploads, and execution by workers with a container engine."""
