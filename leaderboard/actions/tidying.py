"""What a site may lose without anybody missing it: leftovers of broken requests, old mails and logs, what has expired.

Nothing that a board, a receipt or a scoring may need is ever among it: gold, inputs, predictions, outcomes and images
go only where no row names them, and only after a week, so that whatever is just being stored is left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import Storage, storages
from django.db.models import FileField
from django.utils import timezone
from knox.models import AuthToken

STRAY_AFTER = timedelta(days=7)
UPLOAD_AFTER = timedelta(days=1)
LARGE_LOG_BYTES = 10_000_000
NOT_OURS = ("staticfiles", "default")
PIECES = "pieces"
"""Folders of uploads that are under way: the sweeper forgets those that nobody goes on with."""


@dataclass(frozen=True)
class Item:
    """One thing that may go: its name for the operator, its size, and how it goes."""

    name: str
    bytes: int
    remove: Callable[[], object]


def found(*, days: int) -> dict[str, list[Item]]:
    """All that may go, by kind. `days`: how old mails and logs must be."""
    old = timedelta(days=days)
    return {
        "broken uploads": list(_old_files(Path(settings.FILE_UPLOAD_TEMP_DIR), UPLOAD_AFTER)),
        "mails": list(_old_files(settings.DATA / "mail", old)),
        "old logs": list(_old_files(settings.DATA / "log", old, "*.log.1")),
        "large logs": list(_large_logs()),
        "expired sessions": _rows(Session.objects.filter(expire_date__lt=timezone.now())),
        "expired tokens": _rows(AuthToken.objects.filter(expiry__lt=timezone.now())),
        "files that no record names": list(strays()),
    }


def strays() -> Iterator[Item]:
    """Stored files that belong to no row: a process died between the file and its row."""
    for alias in settings.STORAGES:
        if alias not in NOT_OURS:
            storage = storages[alias]
            named = _named(storage)
            for name in _listed(storage):
                if name not in named and _is_old(storage, name):
                    yield Item(f"{alias}/{name}", storage.size(name), partial(storage.delete, name))


def _named(storage: Storage) -> set[str]:
    """What rows call theirs in a store, whichever model they are of."""
    fields = (
        (model, field)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, FileField) and field.storage is storage
    )
    return {
        name for model, field in fields for name in model._base_manager.values_list(field.name, flat=True).iterator()
    }


def _listed(storage: Storage, folder: str = "") -> Iterator[str]:
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}{name}" for name in files)
    for name in folders:
        if name != PIECES:
            yield from _listed(storage, f"{folder}{name}/")


def _is_old(storage: Storage, name: str) -> bool:
    try:
        return storage.get_modified_time(name) < timezone.now() - STRAY_AFTER
    except FileNotFoundError:
        return False


def _old_files(folder: Path, age: timedelta, pattern: str = "*") -> Iterator[Item]:
    """Files that nobody has written to for so long."""
    before = time.time() - age.total_seconds()
    for path in sorted(folder.glob(pattern)) if folder.is_dir() else ():
        stat = path.lstat()
        if path.is_file() and stat.st_mtime < before:
            told = f"{path.name} of {datetime.fromtimestamp(stat.st_mtime, UTC):%Y-%m-%d}"
            yield Item(told, stat.st_size, partial(path.unlink, missing_ok=True))


def _large_logs() -> Iterator[Item]:
    folder = settings.DATA / "log"
    for path in sorted(folder.glob("*.log")) if folder.is_dir() else ():
        size = path.stat().st_size
        if size > LARGE_LOG_BYTES:
            yield Item(path.name, size, partial(_shorten, path))


def _shorten(log: Path) -> None:
    """Keep the end, in place: processes have it open, to append, and go on writing behind what is left."""
    with log.open("r+b") as file:
        file.seek(-LARGE_LOG_BYTES // 10, 2)
        end = file.read().partition(b"\n")[2]
        file.seek(0)
        file.truncate()
        file.write(end)


def _rows(rows: object) -> list[Item]:
    return [Item(f"{row.pk}"[:8], 0, row.delete) for row in rows]  # type: ignore[attr-defined]
