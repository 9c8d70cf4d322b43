"""Holdout for Python: `Client` for a server's benchmarks, submissions and boards, and the exceptions that it raises."""

from evaluator import __version__
from evaluator.client.client import Client
from evaluator.client.http import RefusedError, UnavailableError
from evaluator.errors import EvaluatorError, UsageError

__all__ = ["Client", "EvaluatorError", "RefusedError", "UnavailableError", "UsageError", "__version__"]
