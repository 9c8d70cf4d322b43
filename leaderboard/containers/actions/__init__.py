"""Container images, as systems and as scorers: kept, run by workers with an engine, and what they cost."""
