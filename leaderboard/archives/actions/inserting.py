"""Insertion of a prepared archive's rows, in one transaction that is as short as it can be.

SQLite lets one transaction write at a time, so the rows were converted to values of columns before.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Max, Model

from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.archives.actions.preparing import ENTRY_COLUMNS, MODELS, Key, Prepared, Table
from leaderboard.archives.actions.row_checks import Place
from leaderboard.core import db_locks
from leaderboard.models import AuditEntry

Keys = dict[type[Model], list[Any]]
"""Model -> primary keys on this server by index of the archived row."""


def insert(prepared: Prepared) -> Keys:
    """Insert the prepared rows in the current transaction, with new keys; return all keys.

    Raises ArchiveError for a row that the database refuses, such as one that violates a constraint.
    """
    keys: Keys = {}
    for model in MODELS:
        keys[model] = _keys(prepared.tables[model])
        for batch in _batches(prepared):
            _insert(model, [(index, _with_keys(model, columns, keys)) for index, columns in batch])
    for field, index, others in prepared.links:
        _link(field, keys[field.model][index], [keys[field.related_model][other] for other in others])
    return keys


def _batches(prepared: Prepared) -> Iterator[list[tuple[int, list[Any]]]]:
    while (batch := pickle.load(prepared.spool)) is not None:  # noqa: S301  (this process has written it)
        yield batch


def _keys(table: Table) -> list[Any]:
    """Return the keys of a table's rows on this server: those of existing rows, random keys, or new ones in order.

    The order of keys is that in the archive, because scores are listed in the order of their keys.
    """
    if table.has_random_keys:
        return [table.existing.get(index, UUID(int=key)) for index, key in enumerate(table.keys)]
    new = iter(_new_keys(table.model, len(table.keys) - len(table.existing)))
    return [table.existing[index] if index in table.existing else next(new) for index in range(len(table.keys))]


def _new_keys(model: type[Model], n: int) -> Sequence[int]:
    """Return n new keys, ascending, that no other transaction gets."""
    if not n:
        return ()
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)", [table, column, n]
            )
            return sorted(key for (key,) in cursor.fetchall())
        # The transaction is the only one that writes, and SQLite counts on from the largest inserted key.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        counted = cursor.fetchone()
    largest = model._base_manager.aggregate(largest=Max("pk"))["largest"] or 0
    first = max(largest, counted[0] if counted else 0) + 1
    return range(first, first + n)


def _with_keys(model: type[Model], columns: list[Any], keys: Keys) -> list[Any]:
    """Return the values of a row's columns with this server's keys in place of indexes."""
    for n, other in _references(model):
        if columns[n] is not None:
            key = keys[other][columns[n]]
            columns[n] = key if type(key) is int else other._meta.pk.get_db_prep_save(key, connection)
    if model is AuditEntry:
        subject, detail = ENTRY_COLUMNS["subject"], ENTRY_COLUMNS["detail"]
        named = columns[subject]
        columns[subject] = f"{named.model._meta.model_name}:{keys[named.model][named.row]}"
        prepare = AuditEntry._meta.get_field("detail").get_db_prep_save
        shown, named_in_it = columns[detail]
        columns[detail] = prepare(_detail(shown, named_in_it, keys), connection)
    return columns


@cache
def _references(model: type[Model]) -> list[tuple[int, Any]]:
    """Return the positions of a model's key and foreign keys among its columns, each with the model of the key."""
    columns = enumerate(model._meta.concrete_fields)
    return [
        (n, model if column.primary_key else column.related_model)
        for n, column in columns
        if column.primary_key or column.is_relation
    ]


def _detail(detail: dict[str, Any], named: dict[str, Key], keys: Keys) -> dict[str, Any]:
    """Return the detail of an audit entry with this server's keys; each stays a number or a text, as it was."""
    here = {name: keys[key.model][key.row] for name, key in named.items()}
    return detail | {name: type(detail[name])(key) for name, key in here.items()}


def _insert(model: type[Model], rows: list[tuple[int, list[Any]]]) -> None:
    """Insert rows. If the database refuses one, raise ArchiveError that names its line."""
    if not rows:
        return
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(column.column)) for column in model._meta.concrete_fields)
    values = ", ".join(["%s"] * len(model._meta.concrete_fields))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({values})"  # noqa: S608
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(statement, [row for _, row in rows])
        return
    except DatabaseError as error:
        if db_locks.transient_message(error):
            raise
    for index, row in rows:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement, row)
        except DatabaseError as error:
            if db_locks.transient_message(error):
                raise
            reason = str(error).partition("\n")[0]
            raise ArchiveError(
                f"{Place(str(model._meta.model_name), index + 1)}: the row does not fit the others or those on this "
                f"server: {reason}"
            ) from error


def _link(field: Any, key: Any, others: list[Any]) -> None:
    through = field.remote_field.through
    quote = connection.ops.quote_name
    names = [through._meta.get_field(name).column for name in (field.m2m_field_name(), field.m2m_reverse_field_name())]
    statement = f"INSERT INTO {quote(through._meta.db_table)} ({quote(names[0])}, {quote(names[1])}) VALUES (%s, %s)"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(key, other) for other in dict.fromkeys(others)])
