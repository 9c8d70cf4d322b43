"""Reference systems for metric-correlation."""
