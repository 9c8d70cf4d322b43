"""Who may do what, except where it depends on a team (`submissions.actions`, `systems.actions`).

Pages ask with the functions that return a bool; actions call those that raise Refused with the code NOT_AN_ORGANISER. A
superuser may operate the installation, but to create benchmarks must be a curator too.
"""

from __future__ import annotations

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Benchmark, Dataset, User


def is_curator(user: User) -> bool:
    """Return whether the user may create benchmarks and use archives."""
    return user.is_curator


def manages_workers(user: User) -> bool:
    """Return whether the user may see and drain the workers."""
    return user.is_curator or user.is_superuser


def manages_benchmarks(user: User) -> bool:
    """Return whether the user may open the management pages."""
    return manages_workers(user) or is_operator(user) or user.benchmarks.exists()


def is_operator(user: User) -> bool:
    """Return whether the user may see the state of the installation."""
    return user.is_staff or user.is_superuser


def check_manages(benchmark: Benchmark, by: User) -> None:
    """Raise Refused unless the user is a curator or organises the benchmark."""
    if not benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "You are not an organiser of this benchmark.")


def check_manages_dataset(dataset: Dataset, by: User) -> None:
    """Raise Refused unless the user is a curator or organises a benchmark on the dataset."""
    if not by.is_curator and not dataset.benchmarks.filter(organisers=by).exists():
        raise Refused(Code.NOT_AN_ORGANISER, "Only curators and organisers of a benchmark on this dataset may do this.")


def check_is_curator(by: User, *, to: str) -> None:
    """Raise Refused unless the user is a curator. to: what only curators may do, such as "create datasets"."""
    if not by.is_curator:
        raise Refused(Code.NOT_AN_ORGANISER, f"Only curators may {to}.")
