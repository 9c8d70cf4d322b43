"""Verify that every file named by a row exists and has the row's SHA-256; useful after a restore."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import FileField, Model

from leaderboard.core.storage import AlteredError, check_digest
from leaderboard.models import Image


@dataclass(frozen=True)
class FileCheck:
    """A verified file: its owner, and its fault; empty if it is intact."""

    owner: str
    problem: str


def verify_file() -> Iterator[FileCheck]:
    """Read and verify each file whose row has a digest."""
    for model, field, digest in _fields():
        rows = model._base_manager.exclude(**{field: ""}).exclude(**{digest: ""})
        for row in rows.order_by("pk").iterator():
            if not (model is Image and _was_dropped(row)):
                yield FileCheck(f"{model._meta.model_name}:{row.pk} {field}", _file_problem(row, field, digest))


def _fields() -> Iterator[tuple[type[Model], str, str]]:
    """Yield models with a file field and its digest: `inputs` with `inputs_sha256`, `file` with `sha256`."""
    for model in apps.get_app_config("leaderboard").get_models():
        names = {field.name for field in model._meta.concrete_fields}
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                digest = "sha256" if field.name == "file" else f"{field.name}_sha256"
                if digest in names:
                    yield model, field.name, digest


def _was_dropped(image: Any) -> bool:
    """Return True for an archive that was no image: it is deleted when refused, but submissions refer to its row."""
    return not image.archive.storage.exists(image.archive.name)


def _file_problem(row: Any, field: str, digest: str) -> str:
    try:
        with getattr(row, field).open("rb") as file:
            check_digest(file, getattr(row, digest))
    except FileNotFoundError:
        return "is missing"
    except AlteredError:
        return "no longer matches its sha256"
    except OSError as error:  # after a restore by another user, files may be unreadable
        return f"cannot be read: {error.strerror or type(error).__name__}"
    return ""
