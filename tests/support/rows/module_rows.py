"""Rows that the tests of a module share: created once, in a transaction that is rolled back after the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
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


def shared_states(**builds: Callable[..., Any]) -> tuple[Any, ...]:
    """Return a fixture for each function of `builds`, and one that isolates the module's tests, as `shared` does.

    The rows stay until a test needs another state, or none, for example `world, populated, _django_db_helper =
    shared_states(world=build, populated=populate)`. The first function has no arguments, the others take its result
    and add rows. Tests may change the objects that the fixtures return: each gets a copy of them.
    """
    names = list(builds)
    made: dict[str, Any] = {}

    def enter(state: str, rows: ExitStack) -> None:
        rows.close()
        if state:
            rows.callback(made.clear)
            rows.enter_context(rolled_back())
            made[names[0]] = builds[names[0]]()
            if state != names[0]:
                made[state] = builds[state](made[names[0]])

    @pytest.fixture
    def isolated(request: pytest.FixtureRequest, module_rows: ExitStack, django_db_blocker: Any) -> Iterator[None]:
        state = next((name for name in reversed(names) if name in request.fixturenames), "")
        with django_db_blocker.unblock():
            if next(reversed(made), "") != state:
                enter(state, module_rows)
            with rolled_back():
                yield

    def fixture(state: str) -> Any:
        @pytest.fixture
        def copy(_django_db_helper: None) -> Any:
            return deepcopy(made[state])

        return copy

    return *map(fixture, names), isolated
