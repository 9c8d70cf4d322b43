"""Permissions of users that do not depend on a single benchmark. Loaded when the application is ready."""

from __future__ import annotations

import rules

from leaderboard.models import User


@rules.predicate
def is_curator(user: User) -> bool:
    return bool(getattr(user, "is_curator", False))


@rules.predicate
def organises_something(user: User) -> bool:
    return bool(user.is_authenticated) and user.benchmarks.exists()


rules.add_perm("management.view", is_curator | organises_something)
rules.add_perm("benchmark.create", is_curator)
rules.add_perm("workers.view", is_curator)
rules.add_perm("operations.view", rules.is_staff)
rules.add_perm("workers.drain", is_curator)
rules.add_perm("archives.use", is_curator)
