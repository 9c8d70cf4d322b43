"""Orphaned files: stored files that no row names.

Either a process died before saving the row, or the database is another site's; a file does not show which.
Irreplaceable files are therefore reported but never removed, and if too many files of any store are orphaned, no file
of any store is removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.apps import apps
from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import connection
from django.db.models import FileField
from django.utils import timezone

AFTER = timedelta(days=7)
NOT_OURS = ("staticfiles", "default")
STORED_FOLDERS = ("gold", "inputs", "predictions", "outcomes")
"""Stores with irreplaceable files: gold and raw files, submissions, outcomes."""
PIECES = "pieces"
"""Name of the folders of unfinished uploads, which the sweep deletes when they are abandoned."""
MANY = 5
SHARE = 0.1


@dataclass(frozen=True)
class OrphanedFile:
    """A stored file without a row. is_old: too old for its row to be still coming."""

    alias: str
    name: str
    bytes: int
    is_old: bool

    def __str__(self) -> str:
        return f"{self.alias}/{self.name}"

    @property
    def may_go(self) -> bool:
        return self.is_old and self.alias not in STORED_FOLDERS

    def remove(self) -> None:
        storages[self.alias].delete(self.name)


@dataclass(frozen=True)
class OrphanedFiles:
    """All orphaned files. doubtful: (orphaned files, all files) of each store with too many of them."""

    files: list[OrphanedFile]
    doubtful: dict[str, tuple[int, int]]

    @property
    def to_go(self) -> list[OrphanedFile]:
        """Files that may be removed; none if the database may belong to other files."""
        return [] if self.doubtful else [stray for stray in self.files if stray.may_go]

    @property
    def reported(self) -> list[OrphanedFile]:
        """Old files without a row that are not removed."""
        return [stray for stray in self.files if stray.is_old and (self.doubtful or not stray.may_go)]

    @property
    def doubt(self) -> str:
        """The reason why the database may not belong to the stores; empty if it does."""
        if not self.doubtful:
            return ""
        text = ", ".join(f"{n} of {of} files of {alias}" for alias, (n, of) in self.doubtful.items())
        return (
            f"{text} have no record in {database()}, expected at most a tenth: it may not be the database of the files "
            f"in {settings.DATA}. No stored file is removed"
        )


def find() -> OrphanedFiles:
    """Find every stored file that no row names, sorted by store and name."""
    files: list[OrphanedFile] = []
    doubtful: dict[str, tuple[int, int]] = {}
    for alias in settings.STORAGES:
        if alias in NOT_OURS:
            continue
        storage = storages[alias]
        listed, referenced = sorted(_listed(storage)), _referenced(storage)
        unnamed = [name for name in listed if name not in referenced]
        if len(unnamed) > max(MANY, SHARE * len(listed)):
            doubtful[alias] = (len(unnamed), len(listed))
        files += _strays(alias, storage, unnamed)
    return OrphanedFiles(files, doubtful)


def database() -> str:
    """Describe the database for the operator: its file, or its name and host; never a password."""
    config = connection.settings_dict
    return f"{config['NAME']} on {config['HOST']}" if config.get("HOST") else str(config["NAME"])


def _strays(alias: str, storage: Storage, names: list[str]) -> Iterator[OrphanedFile]:
    for name in names:
        try:
            is_old = storage.get_modified_time(name) < timezone.now() - AFTER
            yield OrphanedFile(alias, name, storage.size(name), is_old)
        except FileNotFoundError:  # it was deleted in the meantime
            continue


def _referenced(storage: Storage) -> set[str]:
    """Return the names of a store's files that rows of any model refer to."""
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
