"""Rows of an archive, serialized as JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from django.core import serializers
from django.db import connection, models
from django.db.models import Model

from leaderboard.models import Standing, User

OF_A_PERSON = ("username", "email", "first_name", "last_name", "date_joined")
"""Fields of a user that are exported: no password, no rights."""

MOST_ROWS = 2_000_000
"""Maximum number of rows of an archive that is imported: scores are systems, measures and slices multiplied."""
MOST_ROWS_SQLITE = 500_000
"""The same on SQLite, where all others wait to write while the rows are inserted."""
MOST_STANDINGS_SQLITE = 50_000
"""Maximum number of standings on SQLite: the boards, which are made of them, are compared before the commit."""


def most_rows(model: type[Model] | None = None) -> int:
    """Return the maximum number of rows of an archive that this server imports. model: only of this table."""
    if connection.vendor != "sqlite":
        return MOST_ROWS
    return MOST_STANDINGS_SQLITE if model is Standing else MOST_ROWS_SQLITE


def serialize_rows(rows: Iterable[Model]) -> Iterator[bytes]:
    """Yield each row as a line of JSON, without loss: microseconds and all digits are preserved."""
    for row in rows:
        (line,) = serializers.serialize("python", [row], fields=OF_A_PERSON if isinstance(row, User) else None)
        yield msgspec.json.encode(line, order="deterministic") + b"\n"


def file_fields(model: type[Model]) -> list[models.FileField]:
    """Return the file fields of a model."""
    return [field for field in model._meta.concrete_fields if isinstance(field, models.FileField)]


def digest_field(field: models.FileField) -> str:
    """Return the name of the field with the SHA-256 digest of a file: `sha256` belongs to `file`."""
    return "sha256" if field.name == "file" else f"{field.name}_sha256"


def size_field(field: models.FileField) -> str:
    """Return the name of the field with the size of a file in bytes, if the model has one: `bytes` to `file`."""
    return "bytes" if field.name == "file" else f"{field.name}_bytes"
