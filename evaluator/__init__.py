"""The evaluator: compares predictions with gold. Pure Python and NumPy; knows nothing of the site."""

__version__ = "0.1.0"
