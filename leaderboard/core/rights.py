"""Permission check for actions that change a benchmark."""

from __future__ import annotations

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Benchmark, User


def check_manages(benchmark: Benchmark, by: User) -> None:
    """Raise Refused with the code NOT_AN_ORGANISER unless the user is a curator or organises the benchmark."""
    if not benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "You are not an organiser of this benchmark.")
