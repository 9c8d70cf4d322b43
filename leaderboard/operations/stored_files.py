"""Verification that each file named by a database row exists and has the recorded SHA-256, such as after a restore."""

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
    """Result of the verification of a stored file.

    owner: `MODEL:KEY FIELD` of the database row that names the file. problem: phrase such as "is missing"; empty if the
    file is intact.
    """

    owner: str
    problem: str


def report_missing() -> None:
    """Log an error if the stored files are not visible to this process, which then could not delete old ones.

    The test is whether the inputs of the latest split exist. If the file store does not respond, this function logs
    nothing.
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
    """Read each stored file whose SHA-256 is recorded in a database row, and yield the result of its verification."""
    with ThreadPoolExecutor(THREADS, thread_name_prefix="files") as pool:
        for model, field, digest in _fields():
            rows = model._base_manager.exclude(**{field: ""}).exclude(**{digest: ""}).order_by("pk").iterator()
            while batch := list(islice(rows, AT_ONCE)):
                checks = pool.map(partial(_check, field=field, digest=digest), batch)
                yield from (check for check in checks if check is not None)


def _fields() -> Iterator[tuple[type[Model], str, str]]:
    """Yield (model, name of a file field, name of the field with the file's SHA-256), for each file field with one.

    The digest of a field `file` is in `sha256`, that of `inputs` in `inputs_sha256`, and so on.
    """
    for model in apps.get_app_config("leaderboard").get_models():
        names = {field.name for field in model._meta.concrete_fields}
        for field in model._meta.concrete_fields:
            if isinstance(field, FileField):
                digest = "sha256" if field.name == "file" else f"{field.name}_sha256"
                if digest in names:
                    yield model, field.name, digest


def _was_dropped(image: Any) -> bool:
    """Return True if the archive of a container image is not stored.

    The site deletes the archive of a rejected image, but keeps its row, because submissions reference it.
    """
    return not image.archive.storage.exists(image.archive.name)


def _check(row: Any, *, field: str, digest: str) -> FileCheck | None:
    """Verify the file of one row; return None for an image's archive that is not stored, which may be on purpose.

    field: name of the file field. digest: name of the field with its SHA-256.
    """
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
