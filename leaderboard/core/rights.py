"""Who may change a benchmark, asked by every action that does."""

from __future__ import annotations

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Benchmark, User


def check_manages(benchmark: Benchmark, by: User) -> None:
    """Curators, and the benchmark's organisers. Raises Refused NOT_AN_ORGANISER."""
    if not benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "You are not an organiser of this benchmark.")
