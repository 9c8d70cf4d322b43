"""A database that goes away in the middle of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection

from leaderboard.core import saved


def _lost() -> Exception:
    """Return an error of the database's driver like that of a connection that was lost: it has no SQLSTATE."""
    kind = type("LostError", (connection.Database.OperationalError,), {"sqlstate": None})
    error: Exception = kind("server closed the connection unexpectedly")
    return error


@contextmanager
def lost_after_commit(n: int = 1) -> Iterator[None]:
    """The database answers no statement of this thread after n transactions with writes were committed."""
    has_written, left, commit = False, n, connection.commit

    def statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal has_written, left
        if not left:
            raise OperationalError("the connection is lost") from _lost()
        result = execute(sql, params, many, context)
        if sql.startswith(("INSERT", "UPDATE", "DELETE")) and not any(table in sql for table in saved._ASIDE):
            if connection.in_atomic_block:
                has_written = True
            else:
                left -= 1
        return result

    def then_lost() -> None:
        nonlocal has_written, left
        commit()
        left -= has_written
        has_written = False

    connection.commit = then_lost  # type: ignore[method-assign]
    try:
        with connection.execute_wrapper(statement):
            yield
    finally:
        del connection.commit  # type: ignore[attr-defined]


class _LostInCommit:
    """A driver's connection whose COMMIT is carried out by the server, and never answered."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def commit(self) -> None:
        self.inner.commit()
        raise _lost()


@contextmanager
def lost_in_commit() -> Iterator[None]:
    """The connection is lost while the database commits: the transaction is stored, and nobody is told."""
    connection.ensure_connection()
    inner = connection.connection
    connection.connection = _LostInCommit(inner)
    try:
        yield
    finally:
        connection.connection = inner
