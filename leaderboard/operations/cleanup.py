"""Removable data: leftovers of interrupted requests, old mails and logs, expired sessions and tokens.

Nothing that a board, a receipt or a scoring may need is removable: gold, inputs, predictions and outcomes always stay.
Images and archives are removable only if no row names them, and only after a week, in case they are being stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from knox.models import AuthToken

from leaderboard.operations.orphaned_files import OrphanedFiles

UPLOAD_AFTER = timedelta(days=1)
LARGE_LOG_BYTES = 10_000_000


@dataclass(frozen=True)
class Item:
    """A removable item: its name for the operator, its size, and the function that removes it."""

    name: str
    bytes: int
    remove: Callable[[], object]


def find_removable(*, days: int, strays: OrphanedFiles) -> dict[str, list[Item]]:
    """Return removable items by kind. days: minimum age of mails and logs; strays: from `orphaned_files.find`."""
    old = timedelta(days=days)
    return {
        "broken uploads": list(_old_files(Path(settings.FILE_UPLOAD_TEMP_DIR), UPLOAD_AFTER)),
        "mails": list(_old_files(settings.DATA / "mail", old)),
        "old logs": list(_old_files(settings.DATA / "log", old, "*.log.1")),
        "large logs": list(_large_logs()),
        "expired sessions": _rows(Session.objects.filter(expire_date__lt=timezone.now())),
        "expired tokens": _rows(AuthToken.objects.filter(expiry__lt=timezone.now())),
        "images and archives without a record": [Item(str(stray), stray.bytes, stray.remove) for stray in strays.to_go],
    }


def _old_files(folder: Path, age: timedelta, pattern: str = "*") -> Iterator[Item]:
    """Yield files that have not been written to for `age`."""
    cutoff = time.time() - age.total_seconds()
    for path in sorted(folder.glob(pattern)) if folder.is_dir() else ():
        stat = path.lstat()
        if path.is_file() and stat.st_mtime < cutoff:
            label = f"{path.name} of {datetime.fromtimestamp(stat.st_mtime, UTC):%Y-%m-%d}"
            yield Item(label, stat.st_size, partial(path.unlink, missing_ok=True))


def _large_logs() -> Iterator[Item]:
    folder = settings.DATA / "log"
    for path in sorted(folder.glob("*.log")) if folder.is_dir() else ():
        size = path.stat().st_size
        if size > LARGE_LOG_BYTES:
            yield Item(path.name, size, partial(_shorten, path))


def _shorten(log: Path) -> None:
    """Truncate a log to its end, in place: processes have it open for appending, and continue after that."""
    with log.open("r+b") as file:
        file.seek(-LARGE_LOG_BYTES // 10, 2)
        end = file.read().partition(b"\n")[2]
        file.seek(0)
        file.truncate()
        file.write(end)


def _rows(rows: object) -> list[Item]:
    return [Item(f"{row.pk}"[:8], 0, row.delete) for row in rows]  # type: ignore[attr-defined]
