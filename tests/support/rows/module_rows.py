"""Rows that the tests of a module share: created once, in a transaction that is rolled back after the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from django.db import transaction

Made = TypeVar("Made")


@contextmanager
def rolled_back() -> Iterator[None]:
    """Run a transaction or savepoint that is rolled back.

    As in Django's TestCase, on_commit hooks do not run, and durable blocks may be nested in it.
    """
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]
    with block:
        yield
        transaction.set_rollback(True)


def shared(build: Callable[[], Made]) -> tuple[Any, Any]:
    """Return a module-scoped fixture with the result of `build`, and a fixture that isolates the module's tests.

    A module of tests marked `django_db` must name them so: `world, _django_db_helper = shared(build)`. The second
    replaces pytest-django's own fixture, which closes the connection after each test and thereby discards the rows.
    """

    @pytest.fixture(scope="module")
    def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Made]:
        with django_db_blocker.unblock(), rolled_back():
            yield build()

    @pytest.fixture
    def isolated(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
        with django_db_blocker.unblock(), rolled_back():
            yield

    return made, isolated
