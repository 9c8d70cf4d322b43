"""Reference systems: the methods of the papers, which anybody can run on their own data (`run-baseline`)."""
