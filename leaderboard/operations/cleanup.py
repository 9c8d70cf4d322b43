"""Old files and rows that `manage.py cleanup --apply` deletes, and the age from which it deletes them.

- leftovers of interrupted uploads: 1 day after they were last written to
- mails in the folder `mail` (a site without a mail server writes them there) and rotated logs (`*.log.1`): after
  `--days` days, by default 30 (`management/commands/cleanup.py`)
- logs of more than 10 MB: all but the last 1 MB, at any age
- sessions and API tokens: as soon as they have expired
- files of images and archives that no database row names: after 7 days (`operations/orphaned_files.py`), since a
  younger file's row may not be saved yet

Gold, inputs, predictions and outcomes are not deleted: a board, a receipt or a scoring may need them. Only incomplete
files among these are, if a process was killed while it stored them.

The sweep deletes other data without a command. Each age is a constant RETENTION: unfinished chunked uploads and images
that nobody submitted after 2 days (`models/chunked_upload.py`), exported archives, and uploaded archives that were not
imported, after 1 day (`models/archive.py`), and notices 30 days after their last delivery attempt
(`notifications/actions/deliver.py`).
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
"""Time since the last write after which a leftover of an upload is removable."""
LARGE_LOG_BYTES = 10_000_000
"""Size above which a log is shortened to its end, of a tenth of this size."""


@dataclass(frozen=True)
class Item:
    """A file or row that can be removed: its name for the operator, its size (of a row: 0), a function to remove it."""

    name: str
    bytes: int
    remove: Callable[[], object]


def find_removable(*, days: int, strays: OrphanedFiles) -> dict[str, list[Item]]:
    """Return kind (such as "mails") -> files or rows of this kind that can be removed; nothing is removed.

    days: minimum age of mails and rotated logs. strays: the result of `orphaned_files.find`.
    """
    old = timedelta(days=days)
    return {
        "broken uploads": list(_old_files(Path(settings.FILE_UPLOAD_TEMP_DIR), UPLOAD_AFTER)),
        "mails": list(_old_files(settings.DATA / "mail", old)),
        "old logs": list(_old_files(settings.DATA / "log", old, "*.log.1")),
        "large logs": list(_large_logs()),
        "expired sessions": _rows(Session.objects.filter(expire_date__lt=timezone.now())),
        "expired tokens": _rows(AuthToken.objects.filter(expiry__lt=timezone.now())),
        "images and archives without a record": [
            Item(str(stray), stray.bytes, stray.remove) for stray in strays.removable
        ],
    }


def _old_files(folder: Path, age: timedelta, pattern: str = "*") -> Iterator[Item]:
    """Yield the files of a folder that match the glob `pattern` and were last written more than `age` ago."""
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
    """Shorten a log file to its last lines, a tenth of LARGE_LOG_BYTES.

    The file is not replaced, because processes have it open for appending.
    """
    with log.open("r+b") as file:
        file.seek(-LARGE_LOG_BYTES // 10, 2)
        end = file.read().partition(b"\n")[2]
        file.seek(0)
        file.truncate()
        file.write(end)


def _rows(rows: object) -> list[Item]:
    return [Item(f"{row.pk}"[:8], 0, row.delete) for row in rows]  # type: ignore[attr-defined]
