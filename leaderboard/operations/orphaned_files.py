"""Orphaned files: stored files that no database row names.

A file is orphaned either because a process died before it saved the row, or because the site is connected to the wrong
database; the file does not show the cause. Irreplaceable files are therefore reported but never removed, except
incomplete ones: a process was killed while it stored these, and no database names them. If too many complete files of
any store are orphaned (more than MANY and more than SHARE of the store), no file of any store is removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.apps import apps
from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import connection
from django.db.models import FileField

from leaderboard.core import db_clock
from leaderboard.core.chunked_upload import CHUNKS_FOLDER
from leaderboard.core.storage import PARTIAL

AFTER = timedelta(days=7)
"""Age from which an orphaned file is old: the row of a younger file may not be saved yet."""
UNCHECKED_STORES = ("staticfiles", "default")
"""Stores of settings.STORAGES that are not checked, because no database row names their files."""
STORED_FOLDERS = ("gold", "inputs", "predictions", "outcomes")
"""Stores with irreplaceable files: gold and raw files, submissions, outcomes."""
MANY = 5
SHARE = 0.1
"""A store has too many orphaned files if they are more than MANY and more than this fraction of the store's files."""


@dataclass(frozen=True)
class OrphanedFile:
    """A stored file that no database row names.

    alias: name of the file's store in settings.STORAGES. is_old: True if it was last written more than AFTER ago.
    """

    alias: str
    name: str
    bytes: int
    is_old: bool

    def __str__(self) -> str:
        return f"{self.alias}/{self.name}"

    @property
    def may_be_removed(self) -> bool:
        return self.is_old and (self.alias not in STORED_FOLDERS or _is_partial(self.name))

    def remove(self) -> None:
        storages[self.alias].delete(self.name)


@dataclass(frozen=True)
class OrphanedFiles:
    """All orphaned files (stored files that no database row names) of the site's stores.

    suspicious_stores: name of each store with too many orphaned files (more than MANY, and more than the fraction SHARE
    of its files) -> (number of complete orphaned files, number of all files). If any store is suspicious, the site is
    probably connected to a database that does not belong to the stored files.
    """

    files: list[OrphanedFile]
    suspicious_stores: dict[str, tuple[int, int]]

    @property
    def removable(self) -> list[OrphanedFile]:
        """Old orphaned files that may be removed: in replaceable stores, and incomplete files in irreplaceable stores.

        Empty if any store is suspicious.
        """
        return [] if self.suspicious_stores else [stray for stray in self.files if stray.may_be_removed]

    @property
    def reported(self) -> list[OrphanedFile]:
        """Old orphaned files that are only reported: complete files of irreplaceable stores.

        All old orphaned files if any store is suspicious.
        """
        return [stray for stray in self.files if stray.is_old and (self.suspicious_stores or not stray.may_be_removed)]

    @property
    def doubt(self) -> str:
        """Message that the site is probably connected to the wrong database; empty if no store is suspicious."""
        if not self.suspicious_stores:
            return ""
        text = ", ".join(f"{n} of {of} files of {alias}" for alias, (n, of) in self.suspicious_stores.items())
        return (
            f"{text} have no record in {database()}, expected at most {MANY} or a tenth of a store's files. This is "
            f"probably not the database that belongs to the files in {settings.DATA}: check HOLDOUT_DATA and "
            "HOLDOUT_DATABASE_URL. No stored file is removed"
        )


def find() -> OrphanedFiles:
    """Return every stored file that no database row names, and the stores with too many of these; remove nothing."""
    files: list[OrphanedFile] = []
    suspicious: dict[str, tuple[int, int]] = {}
    for alias in settings.STORAGES:
        if alias in UNCHECKED_STORES:
            continue
        storage = storages[alias]
        listed, referenced = sorted(_listed(storage)), _referenced(storage)
        unnamed = [name for name in listed if name not in referenced]
        n_whole = sum(not _is_partial(name) for name in unnamed)
        if n_whole > max(MANY, SHARE * len(listed)):
            suspicious[alias] = (n_whole, len(listed))
        files += _strays(alias, storage, unnamed)
    return OrphanedFiles(files, suspicious)


def _is_partial(name: str) -> bool:
    """Return True for the name of a file that was never completed, because its process was killed.

    No database row can name such a file.
    """
    return re.search(rf"\.[0-9a-f]{{32}}{re.escape(PARTIAL)}$", name) is not None


def database() -> str:
    """Describe the database for the operator: the path of its file, or its name and host, without a password."""
    config = connection.settings_dict
    return f"{config['NAME']} on {config['HOST']}" if config.get("HOST") else str(config["NAME"])


def _strays(alias: str, storage: Storage, names: list[str]) -> Iterator[OrphanedFile]:
    before = db_clock.earliest() - AFTER
    for name in names:
        try:
            is_old = storage.get_modified_time(name) < before
            yield OrphanedFile(alias, name, storage.size(name), is_old)
        except FileNotFoundError:  # the file was deleted after it was listed
            continue


def _referenced(storage: Storage) -> set[str]:
    """Return the names of the files in a store that rows of any model name; also "" if a file field is empty."""
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
        if name != CHUNKS_FOLDER:  # of unfinished uploads; the sweep deletes abandoned ones
            yield from _listed(storage, f"{folder}{name}/")
