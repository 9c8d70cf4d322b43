"""The evaluator: compares predictions with gold. Python and NumPy; imports nothing from the site (`leaderboard/`)."""

__version__ = "1.0.0"
