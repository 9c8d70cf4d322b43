"""Verification that each file named by a database row exists and has the row's SHA-256, for example after a restore."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import structlog
from django.apps import apps
from django.db.models import FileField, Model

from leaderboard.core.storage import AlteredError, check_digest
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.models import Image, Split

log = structlog.get_logger(__name__)
THREADS = 8
"""Number of files that are read at the same time: a store takes milliseconds to answer, however small the file is."""
AT_ONCE = 1000
"""Number of rows in memory."""


@dataclass(frozen=True)
class FileCheck:
    """The result of verifying a stored file.

    owner: `MODEL:KEY FIELD` of the row that names it; problem: empty if it is intact.
    """

    owner: str
    problem: str


def report_missing() -> None:
    """Log an error if this process cannot see the stored files, so that it could not delete any.

    Whether it can is tested with the inputs of the latest split. Logs no error of its own if the file store does not
    respond.
    """
    split = Split.objects.exclude(inputs="").order_by("-pk").first()
    try:
        missing = split is not None and not split.inputs.storage.exists(str(split.inputs.name))
    except StoreUnavailableError:
        return
    if split is not None and missing:
        log.error(
            "files_missing",
            missing=str(split.inputs.name),
            expected="this process has the same files as the worker: mount the volume `files`, as compose.yaml does "
            "for beat, or give it the credential of HOLDOUT_S3_BUCKET",
        )


def verify_file() -> Iterator[FileCheck]:
    """Read each file whose row has a SHA-256, and yield the result of its verification."""
    with ThreadPoolExecutor(THREADS, thread_name_prefix="files") as pool:
        for model, field, digest in _fields():
            rows = model._base_manager.exclude(**{field: ""}).exclude(**{digest: ""}).order_by("pk").iterator()
            while batch := list(islice(rows, AT_ONCE)):
                checks = pool.map(partial(_check, field=field, digest=digest), batch)
                yield from (check for check in checks if check is not None)


def _fields() -> Iterator[tuple[type[Model], str, str]]:
    """Yield (model, name of a file field, name of the field with its SHA-256), such as `inputs`, `inputs_sha256`.

    The digest of a field `file` is in `sha256`. Models without a digest are left out.
    """
    for model in apps.get_app_config("leaderboard").get_models():
        names = {field.name for field in model._meta.concrete_fields}
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                digest = "sha256" if field.name == "file" else f"{field.name}_sha256"
                if digest in names:
                    yield model, field.name, digest


def _was_dropped(image: Any) -> bool:
    """Return True if an image's archive was deleted.

    The archive of a rejected image is, but its row stays, because submissions reference it.
    """
    return not image.archive.storage.exists(image.archive.name)


def _check(row: Any, *, field: str, digest: str) -> FileCheck | None:
    """Return the result for one file; None for one that was deleted on purpose."""
    if isinstance(row, Image) and _was_dropped(row):
        return None
    return FileCheck(f"{row._meta.model_name}:{row.pk} {field}", _file_problem(row, field, digest))


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
