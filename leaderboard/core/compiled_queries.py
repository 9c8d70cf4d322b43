"""Prepared queries, which Django compiles to SQL only once.

Compiling takes Django several times as long as the database needs to answer, and the queries of a leaderboard differ
only in a number or a name. On PostgreSQL they are also prepared statements of the session, whose plans it keeps:
planning a board's joins usually takes longer than executing them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.db.models.query import ModelIterable, get_related_populators
from django.utils import timezone

T = TypeVar("T")
Argument = str | int | datetime
PLACEHOLDERS: dict[type, Callable[[int], Argument]] = {
    str: lambda index: f"\N{REPLACEMENT CHARACTER}{index}",
    # No float rounds to one of these, so that no float compares equal to them.
    int: lambda index: -(2**60) - 8191 - index,
    datetime: lambda index: datetime(1, 2, 3, 4, 5, 6, 7000 + index, tzinfo=timezone.get_default_timezone()),
}
"""Placeholder of a query's argument while the query is compiled: argument type -> function of the argument's index.

No real argument and no stored value equals a placeholder.
"""


_ARGUMENT = "\N{REPLACEMENT CHARACTER}argument"


class PreparedQuery(Generic[T]):
    """A query with typed arguments, compiled once for each database vendor.

    `build` takes one value for each of the `argument_types` and returns the queryset. Each value must reach the SQL
    statement unchanged, as a parameter. The queryset's results (T) are model instances, also with select_related and
    annotations, or tuples of `values_list`.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, T]], *argument_types: type[Argument]) -> None:
        self._build, self._argument_types = build, argument_types
        self._compiled = functools.cache(self._compile)  # by vendor: SQL dialects differ

    def __call__(self, *arguments: Argument) -> list[T]:
        """Return the results of the queryset `build(*arguments)` as a list.

        Raises TypeError for arguments whose number or types differ from `argument_types`.
        """
        compiled = self._compiled(connection.vendor)
        return compiled.read(compiled.raw(self._checked(arguments)))

    def raw(self, *arguments: Argument) -> list[tuple[Any, ...]]:
        """Return the rows of `build(*arguments)` as the database driver does: on SQLite, datetimes and JSON are text.

        Raises TypeError for arguments whose number or types differ from `argument_types`.
        """
        return self._compiled(connection.vendor).raw(self._checked(arguments))

    def _checked(self, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        # None is not allowed: Django compiles it to IS NULL, while `= NULL` is never true.
        if len(arguments) != len(self._argument_types) or not all(map(isinstance, arguments, self._argument_types)):
            expected = ", ".join(kind.__name__ for kind in self._argument_types)
            raise TypeError(
                f"the query was called with arguments of the types "
                f"({', '.join(type(value).__name__ for value in arguments)}), expected ({expected})"
            )
        return arguments

    def _compile(self, vendor: str) -> _Compiled[T]:
        placeholders = [PLACEHOLDERS[kind](index) for index, kind in enumerate(self._argument_types)]
        return _Compiled(self._build(*placeholders), [_stored(value) for value in placeholders])


class _Compiled(Generic[T]):
    def __init__(self, queryset: QuerySet[Any, T], placeholders: Sequence[Any]) -> None:
        self._compiler = compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self._sql, parameters = compiler.as_sql()
        self._parameters = list(parameters)
        self._positions = [
            (index, argument, type(parameter))
            for index, parameter in enumerate(parameters)
            for argument, placeholder in enumerate(placeholders)
            if isinstance(parameter, type(placeholder)) and parameter == placeholder
        ]
        self._converters = compiler.get_converters([column for column, *_ in compiler.select])
        missing = set(range(len(placeholders))) - {argument for _, argument, _ in self._positions}
        if missing:
            raise ValueError(
                f"the SQL statement has no parameter for the arguments with the indexes {sorted(missing)}, "
                f"expected at least one for each argument: {self._sql}"
            )
        replaced = {index for index, *_ in self._positions}
        constants = [str(parameter) for index, parameter in enumerate(parameters) if index not in replaced]
        if any(str(placeholder) in text for placeholder in placeholders for text in (self._sql, *constants)):
            raise ValueError(
                "an argument is changed on its way into the SQL statement, for example into a LIKE pattern, "
                f"expected each argument as a parameter of its own: {self._sql}"
            )
        self._of_models = queryset._iterable_class is ModelIterable
        if self._of_models:
            known = compiler.klass_info
            start, *_, end = known["select_fields"]
            self._model, self._own = known["model"], slice(start, end + 1)
            self._names = [column.target.attname for column, *_ in compiler.select[self._own]]
            self._annotations = compiler.annotation_col_map
            self._related_populators = get_related_populators(known, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # the stubs are of Django 6

    def raw(self, arguments: Sequence[Argument]) -> list[tuple[Any, ...]]:
        # A page that reads from a replica reads all from it: its ETag must be that of its content.
        database = connections[router.db_for_read(self._compiler.query.model)]
        with database.cursor() as cursor:
            if _can_prepare(database, cursor):
                values = [_stored(arguments[argument]) for _, argument, _ in self._positions]
                return _execute_prepared(database, cursor, self._statement, values)
            parameters = self._parameters.copy()
            for index, argument, wrapped in self._positions:
                value = _stored(arguments[argument])
                # psycopg marks the size of some integers for PostgreSQL with types of its own.
                parameters[index] = wrapped(value) if issubclass(wrapped, int) else value
            cursor.execute(self._sql, parameters)
            return cursor.fetchall()

    @functools.cached_property
    def _statement(self) -> str:
        """SQL statement for PostgreSQL. Only the query's arguments are parameters; all others are written as constants.

        PostgreSQL chooses better plans if it knows the constants.
        """
        parameters: list[Any] = self._parameters.copy()
        for index, *_ in self._positions:
            parameters[index] = _ARGUMENT
        composed: str = connection.ops.compose_sql(self._sql, parameters)  # type: ignore[attr-defined]  # PostgreSQL's
        return composed.replace("%", "%%").replace(f"'{_ARGUMENT}'", "%s")

    def read(self, lines: list[tuple[Any, ...]]) -> list[Any]:
        rows: Iterable[Sequence[Any]] = lines
        if self._converters:
            rows = self._compiler.apply_converters(lines, self._converters)
        return [self._object(line) for line in rows] if self._of_models else [tuple(line) for line in rows]

    def _object(self, line: Sequence[Any]) -> Any:
        instance = self._model.from_db(DEFAULT_DB_ALIAS, self._names, line[self._own])
        for populator in self._related_populators:
            populator.populate(line, instance)
        for name, index in self._annotations.items():
            setattr(instance, name, line[index])
        return instance


def _can_prepare(database: BaseDatabaseWrapper, cursor: CursorWrapper) -> bool:
    """Return True if `_execute_prepared` may use the cursor: on PostgreSQL without PgBouncer, if nothing wraps it.

    A session of PgBouncer serves several clients, so it may not have a statement that this process prepared. A cursor
    that logs or traces queries (Django's in debug mode, OpenTelemetry's) must execute them itself.
    """
    if database.vendor != "postgresql" or database.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]:
        return False
    if type(cursor) is not CursorWrapper:
        return False
    from django.db.backends.postgresql.base import Cursor  # imports psycopg

    return type(cursor.cursor) is Cursor


def _execute_prepared(
    database: BaseDatabaseWrapper, cursor: CursorWrapper, statement: str, values: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """Execute a statement and return its rows. The database session prepares the statement at its first use.

    psycopg limits the number of prepared statements, and drops the least recently used ones.
    """
    from django.db.backends.postgresql.base import ServerBindingCursor

    session = database.connection
    cursor.cursor = ServerBindingCursor(session)  # type: ignore[call-arg]  # the stubs lack psycopg 3
    session.prepare_threshold = 0
    try:
        cursor.execute(statement, values)
    finally:
        session.prepare_threshold = None  # Django's default: other statements are not prepared
    return cursor.fetchall()


def _stored(value: Argument) -> Any:
    """Convert a query's argument to a database parameter: a datetime as the database stores it, others unchanged."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def parse_datetime(line: str | datetime) -> datetime:
    """Convert a datetime from a row of `PreparedQuery.raw` (text in ISO 8601 on SQLite) to an aware datetime.

    One without a time zone, as on SQLite, is assumed to be in the site's default time zone, UTC.
    """
    parsed = datetime.fromisoformat(line) if isinstance(line, str) else line
    return parsed.replace(tzinfo=timezone.get_default_timezone()) if parsed.tzinfo is None else parsed
