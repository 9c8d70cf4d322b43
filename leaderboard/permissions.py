"""Permissions of users that do not depend on a single benchmark. A superuser has all of them."""

from __future__ import annotations

from leaderboard.models import User


def is_curator(user: User) -> bool:
    """Return whether the user may create benchmarks, see the workers and use archives."""
    return user.is_curator or user.is_superuser


def manages_benchmarks(user: User) -> bool:
    """Return whether the user may open the management pages."""
    return is_curator(user) or is_operator(user) or user.benchmarks.exists()


def is_operator(user: User) -> bool:
    """Return whether the user may see the state of the installation."""
    return user.is_staff or user.is_superuser
