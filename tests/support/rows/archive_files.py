"""Archives written by hand: complete rows of any model, and ZIP files that no export writes."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any, get_origin

from django.db.models import EmailField, Model, URLField, UUIDField

from leaderboard.archives.actions import encryption, json_values, rows, tables, writing
from leaderboard.models import AuditEntry, User

SECRET, PUBLIC = encryption.generate_key()
MODELS: tuple[type[Model], ...] = (User, *tables.TABLES, AuditEntry)
PAST = "2026-01-01T00:00:00Z"
KEY = 700
"""The key of each row that `row` makes, or the number of its UUID."""
_VALUES: dict[str, Any] = {
    "BooleanField": False,
    "FloatField": 0.5,
    "DateTimeField": PAST,
    "DecimalField": "0.500000",
    "FileField": "",
    "JSONField": {},
    "BinaryField": "",
    **dict.fromkeys(("CharField", "TextField", "SlugField"), "x"),
}
_BY_NAME = {"time_zone": "UTC", "task": "fact-verification", "suffix": ".tsv", "digest": ""}


def key_of(model: type[Model], number: int = KEY) -> Any:
    return str(uuid.UUID(int=number)) if isinstance(model._meta.pk, UUIDField) else number


def fields_of(model: type[Model]) -> list[Any]:
    """The fields that an export writes."""
    if model is User:
        return [User._meta.get_field(name) for name in rows.OF_A_PERSON]
    related = [field for field in model._meta.many_to_many if field.remote_field.through._meta.auto_created]  # type: ignore[union-attr]
    return [field for field in [*model._meta.local_fields, *related] if field.serialize]


def row(model: type[Model], number: int = KEY, /, **changes: Any) -> dict[str, Any]:
    """A row of an archive, with a valid value in each field, and with each key that of `row(its model)`."""
    fields = {field.name: _value(model, field) for field in fields_of(model)}
    return {"model": model._meta.label_lower, "pk": key_of(model, number), "fields": fields | changes}


def _value(model: type[Model], field: Any) -> Any:
    if field.many_to_many:
        return [key_of(field.related_model)]
    if field.is_relation:
        return key_of(field.related_model)
    if field.choices:
        return next(value for value, _ in field.flatchoices if value)
    is_list = get_origin(json_values.FORMS.get((model, field.name))) is list
    if field.name in ("facts", "tracks", "former_names") or field.default is list or is_list:
        return {} if field.default is dict else []
    if isinstance(field, EmailField | URLField):
        return "eve@holdout.example" if isinstance(field, EmailField) else "https://holdout.example/"
    if field.name in _BY_NAME:
        return _BY_NAME[field.name]
    if field.null and field.get_internal_type() not in ("DateTimeField",):
        return None
    return _VALUES.get(field.get_internal_type(), 1)


Rows = Mapping[type[Model], Iterable[dict[str, Any]]]


def closed_part(tables_: Rows, files: Mapping[str, bytes] | None = None) -> bytes:
    """The decrypted part of an archive: a ZIP file with a table for each model, empty unless it is in `tables_`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for model in MODELS:
            content = b"".join(json.dumps(line).encode() + b"\n" for line in tables_.get(model, ()))
            archive.writestr(f"tables/{model._meta.model_name}.jsonl", content)
        for name, content in (files or {}).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def archive_with(content: bytes, *, slug: str = "x", protected_key: bytes = b"", **head: Any) -> bytes:
    """An archive with `content` as its closed part, encrypted to PUBLIC, and without public files."""
    described = {
        "format": "holdout-benchmark",
        "version": writing.FORMAT,
        "layout": writing.migration(),
        "slug": slug,
        "title": "By hand",
        "written_at": PAST,
        "readable": {},
        "closed": writing.CLOSED,
        "rows": {},
        "protected_key": writing.PROTECTED_KEY if protected_key else None,
        **head,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(writing.HEAD, json.dumps(described))
        if protected_key:
            archive.writestr(writing.PROTECTED_KEY, protected_key)
        with (
            archive.open(writing.CLOSED, "w") as target,
            encryption.encrypted_writer(target, encryption.recipients([PUBLIC])) as stream,
        ):
            stream.write(content)
    return buffer.getvalue()


def overlapping(n: int = 2_000, size: int = 1 << 21) -> bytes:
    """A ZIP file whose n entries share one compressed stream of `size` zeros."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(size))
        first = archive.infolist()[0]
        for number in range(n):
            other = zipfile.ZipInfo(f"{number:04}")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(other, name, getattr(first, name))
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
        archive._didModify = True  # type: ignore[attr-defined]
    return buffer.getvalue()


def zipped(**changes: Any) -> bytes:
    """A ZIP file with one entry, `a`, with changed attributes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(changes.pop("filename", "a"))
        info.compress_type = changes.pop("compress_type", zipfile.ZIP_DEFLATED)
        info.external_attr = changes.pop("external_attr", 0)
        archive.writestr(info, changes.pop("content", b"x" * 100))
        for name, value in changes.items():
            setattr(info, name, value)
    return buffer.getvalue()
