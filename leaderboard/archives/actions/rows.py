"""Rows as lines of JSON, and back under other numbers where theirs are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from django.core import serializers
from django.db import models
from django.db.models import Model

from leaderboard.models import AuditEntry, User

OF_A_PERSON = ("username", "email", "first_name", "last_name", "date_joined")
"""What travels of a person: no password, and nothing that says what he may do."""

Line = dict[str, Any]
"""{"model": "leaderboard.split", "pk": 1, "fields": {...}}, as Django's serializers write it."""

Renumbered = Mapping[type[Model], Mapping[Any, Any]]
"""By model: the key in the archive -> the key here."""


def written(rows: Iterable[Model]) -> Iterator[bytes]:
    """Each row as a line; every value comes back as it was, to the microsecond and the last digit."""
    for row in rows:
        (line,) = serializers.serialize("python", [row], fields=OF_A_PERSON if isinstance(row, User) else None)
        yield msgspec.json.encode(line, order="deterministic") + b"\n"


def read(lines: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a table."""
    return (msgspec.json.decode(line) for line in lines)


def renumbered(model: type[Model], line: Line, numbers: Renumbered) -> Line:
    """The line with its own key, and those that it refers to, as they are here.

    Raises KeyError for a person that `numbers` does not have: under the same key stands a stranger. An act's is left
    open, since archives were written that hold the act and not who did it.
    """
    fields = dict(line["fields"])
    for field in model._meta.concrete_fields:
        if field.is_relation and fields.get(field.name) is not None:
            key = fields[field.name]
            if model is AuditEntry and field.related_model is User and key not in numbers[User]:
                fields[field.name] = None
            else:
                fields[field.name] = _here(numbers, field.related_model, key)
    for field in model._meta.many_to_many:
        if field.name in fields:
            fields[field.name] = [_here(numbers, field.related_model, key) for key in fields[field.name]]
    return {**line, "pk": _here(numbers, model, line["pk"]), "fields": fields}


def inserted(model: type[Model], lines: Iterable[Line]) -> int:
    """Insert rows exactly as their lines say, how many."""
    made = list(serializers.deserialize("python", list(lines)))
    if any(getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False) for field in _fields(model)):
        for one in made:
            # `raw` keeps the moments that were written; a bulk insert would put today's in their place.
            one.object.save_base(raw=True, force_insert=True)
    else:
        model._base_manager.bulk_create([one.object for one in made], batch_size=500)
    for one in made:
        for name, keys in (one.m2m_data or {}).items():
            getattr(one.object, name).set(keys)
    return len(made)


def file_fields(model: type[Model]) -> list[models.FileField]:
    """The fields of a model that name a stored file."""
    return [field for field in _fields(model) if isinstance(field, models.FileField)]


def _fields(model: type[Model]) -> list[Any]:
    return list(model._meta.concrete_fields)


def _here(numbers: Renumbered, model: type[Model] | None, key: Any) -> Any:
    if model is User:
        return numbers[User][key]
    return numbers.get(model, {}).get(key, key) if model else key
