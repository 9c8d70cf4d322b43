"""Rows of an archive: serialized as JSON lines, and inserted with new primary keys where their own are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from django.core import serializers
from django.db import models
from django.db.models import Model

from leaderboard.models import AuditEntry, User

OF_A_PERSON = ("username", "email", "first_name", "last_name", "date_joined")
"""Fields of a user that are exported: no password, no rights."""

Line = dict[str, Any]
"""{"model": "leaderboard.split", "pk": 1, "fields": {...}}, as Django's serializers write it."""

Renumbered = Mapping[type[Model], Mapping[Any, Any]]
"""Model -> {primary key in the archive: primary key on this server}."""


def serialize_rows(rows: Iterable[Model]) -> Iterator[bytes]:
    """Yield each row as a line of JSON, without loss: microseconds and all digits are preserved."""
    for row in rows:
        (line,) = serializers.serialize("python", [row], fields=OF_A_PERSON if isinstance(row, User) else None)
        yield msgspec.json.encode(line, order="deterministic") + b"\n"


def read(lines: Iterable[bytes]) -> Iterator[Line]:
    """Yield the parsed lines of an archived table."""
    return (msgspec.json.decode(line) for line in lines)


def renumber(model: type[Model], line: Line, numbers: Renumbered) -> Line:
    """Return an archived row with its primary key and its foreign keys replaced by this server's keys in `numbers`.

    Keys that are not in `numbers` are kept, except users' keys, which may be keys of other users on this server: they
    raise KeyError. Only an unknown actor of an audit entry becomes None, since some earlier archives contain entries
    without their actors.
    """
    fields = dict(line["fields"])
    for field in model._meta.concrete_fields:
        if field.is_relation and fields.get(field.name) is not None:
            key = fields[field.name]
            if model is AuditEntry and field.related_model is User and key not in numbers[User]:
                fields[field.name] = None
            else:
                fields[field.name] = _local_key(numbers, field.related_model, key)
    for field in model._meta.many_to_many:
        if field.name in fields:
            fields[field.name] = [_local_key(numbers, field.related_model, key) for key in fields[field.name]]
    return {**line, "pk": _local_key(numbers, model, line["pk"]), "fields": fields}


def insert_rows(model: type[Model], lines: Iterable[Line]) -> int:
    """Insert rows with all fields as serialized, timestamps included; return the number of rows."""
    objects = list(serializers.deserialize("python", list(lines)))
    if any(getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False) for field in _fields(model)):
        for item in objects:
            # `raw` preserves archived timestamps; a bulk insert would replace them with the current time.
            item.object.save_base(raw=True, force_insert=True)
    else:
        model._base_manager.bulk_create([item.object for item in objects], batch_size=500)
    for item in objects:
        for name, keys in (item.m2m_data or {}).items():
            getattr(item.object, name).set(keys)
    return len(objects)


def file_fields(model: type[Model]) -> list[models.FileField]:
    """Return the file fields of a model."""
    return [field for field in _fields(model) if isinstance(field, models.FileField)]


def _fields(model: type[Model]) -> list[Any]:
    return list(model._meta.concrete_fields)


def _local_key(numbers: Renumbered, model: type[Model] | None, key: Any) -> Any:
    if model is User:
        return numbers[User][key]
    return numbers.get(model, {}).get(key, key) if model else key
