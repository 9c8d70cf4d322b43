"""Permissions of users that do not depend on a single benchmark.

A superuser may operate the installation, but to create benchmarks must be a curator too.
"""

from __future__ import annotations

from leaderboard.models import User


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
