"""Statements that are compiled once: to compile a query takes Django several times as long as the database takes to
answer it, and a board is read by queries that differ in a number or a name alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import QuerySet
from django.db.models.query import ModelIterable, get_related_populators
from django.utils import timezone

T = TypeVar("T")
Given = str | int | datetime
STAND_INS: dict[type, Callable[[int], Given]] = {
    str: lambda place: f"\N{REPLACEMENT CHARACTER}{place}",
    # No float rounds to one of these, so that none is taken for it.
    int: lambda place: -(2**60) - 8191 - place,
    datetime: lambda place: datetime(1, 2, 3, 4, 5, 6, 7000 + place, tzinfo=timezone.get_default_timezone()),
}
"""What stands in a statement for what is asked for, by its kind; nothing that is asked for or stored is like it."""


class Prepared(Generic[T]):
    """A query of which only what is `asked` changes. `made` makes its queryset from values of these kinds, each of
    which must reach the statement; a queryset of models (T), with whatever it selects beside, or of `values_list`.
    """

    def __init__(self, made: Callable[..., QuerySet[Any, T]], *asked: type[Given]) -> None:
        self._made, self._asked = made, asked
        self._compiled = functools.cache(self._compile)  # by vendor: databases word things differently

    def __call__(self, *given: Given) -> list[T]:
        """What `made(*given)` would give, as a list."""
        compiled = self._compiled(connection.vendor)
        return compiled.read(compiled.raw(self._checked(given)))

    def raw(self, *given: Given) -> list[tuple[Any, ...]]:
        """The lines as the database has them, which is not as Django has: SQLite knows neither moments nor JSON."""
        return self._compiled(connection.vendor).raw(self._checked(given))

    def _checked(self, given: tuple[Given, ...]) -> tuple[Given, ...]:
        # Nothing equals NULL in a database, where Django asks whether it is there: None is no such answer's to give.
        if len(given) != len(self._asked) or not all(map(isinstance, given, self._asked)):
            expected = ", ".join(kind.__name__ for kind in self._asked)
            raise TypeError(f"asked with {', '.join(type(one).__name__ for one in given)}, expected {expected}")
        return given

    def _compile(self, vendor: str) -> _Compiled[T]:
        stand_ins = [STAND_INS[kind](place) for place, kind in enumerate(self._asked)]
        return _Compiled(self._made(*stand_ins), [_stored(one) for one in stand_ins])


class _Compiled(Generic[T]):
    def __init__(self, queryset: QuerySet[Any, T], stand_ins: Sequence[Any]) -> None:
        self._compiler = compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self._sql, parameters = compiler.as_sql()
        self._parameters = list(parameters)
        self._places = [
            (place, which, type(one))
            for place, one in enumerate(parameters)
            for which, other in enumerate(stand_ins)
            if isinstance(one, type(other)) and one == other
        ]
        self._converters = compiler.get_converters([column for column, *_ in compiler.select])
        missing = set(range(len(stand_ins))) - {which for _, which, _ in self._places}
        if missing:
            raise ValueError(f"the statement has no place for what is asked at {sorted(missing)}: {self._sql}")
        replaced = {place for place, *_ in self._places}
        kept = [str(one) for place, one in enumerate(parameters) if place not in replaced]
        if any(str(one) in text for one in stand_ins for text in (self._sql, *kept)):
            raise ValueError(f"something that is asked is changed on its way into the statement: {self._sql}")
        self._of_models = queryset._iterable_class is ModelIterable
        if self._of_models:
            known = compiler.klass_info
            start, *_, end = known["select_fields"]
            self._model, self._own = known["model"], slice(start, end + 1)
            self._names = [column.target.attname for column, *_ in compiler.select[self._own]]
            self._beside = get_related_populators(known, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # the stubs are of Django 6

    def raw(self, given: Sequence[Given]) -> list[tuple[Any, ...]]:
        parameters = self._parameters.copy()
        for place, which, wrapped in self._places:
            value = _stored(given[which])
            # psycopg tells PostgreSQL the size of some numbers by a type of its own.
            parameters[place] = wrapped(value) if issubclass(wrapped, int) else value
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            return cursor.fetchall()

    def read(self, lines: list[tuple[Any, ...]]) -> list[Any]:
        found: Iterable[Sequence[Any]] = lines
        if self._converters:
            found = self._compiler.apply_converters(lines, self._converters)
        return [self._object(line) for line in found] if self._of_models else [tuple(line) for line in found]

    def _object(self, line: Sequence[Any]) -> Any:
        made = self._model.from_db(DEFAULT_DB_ALIAS, self._names, line[self._own])
        for beside in self._beside:
            beside.populate(line, made)
        return made


def _stored(value: Given) -> Any:
    """As the database takes it."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def moment(line: str | datetime) -> datetime:
    """A moment of a raw line or of a text that the database made of one: SQLite names no zone, it is the site's."""
    found = datetime.fromisoformat(line) if isinstance(line, str) else line
    return found.replace(tzinfo=timezone.get_default_timezone()) if found.tzinfo is None else found
