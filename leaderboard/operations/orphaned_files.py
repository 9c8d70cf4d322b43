"""Stored files that no row names: a process died between the file and its row, or the database is another site's.

Nobody can tell the one from the other by a file. So what can never be made again is told and stays, and where too much
of a store has no row nothing of any store is touched.
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
KEPT = ("gold", "inputs", "predictions", "outcomes")
"""Stores whose files nobody could make again: gold and raw files, what was sent, what was scored."""
PIECES = "pieces"
"""Folders of uploads that are under way: the sweeper forgets those that nobody goes on with."""
MANY = 5
SHARE = 0.1


@dataclass(frozen=True)
class Stray:
    """A stored file without a row. is_old: for so long that its row is not on its way."""

    alias: str
    name: str
    bytes: int
    is_old: bool

    def __str__(self) -> str:
        return f"{self.alias}/{self.name}"

    @property
    def may_go(self) -> bool:
        return self.is_old and self.alias not in KEPT

    def remove(self) -> None:
        storages[self.alias].delete(self.name)


@dataclass(frozen=True)
class Strays:
    """All stray files, and of each store that has too many of them how many, of how many."""

    files: list[Stray]
    doubtful: dict[str, tuple[int, int]]

    @property
    def to_go(self) -> list[Stray]:
        """What may be removed; nothing where the database may not be the one of these files."""
        return [] if self.doubtful else [stray for stray in self.files if stray.may_go]

    @property
    def told(self) -> list[Stray]:
        """What has no row, is old, and stays."""
        return [stray for stray in self.files if stray.is_old and (self.doubtful or not stray.may_go)]

    @property
    def doubt(self) -> str:
        """Why the stores cannot be trusted to be this database's; empty: they can."""
        if not self.doubtful:
            return ""
        told = ", ".join(f"{n} of {of} files of {alias}" for alias, (n, of) in self.doubtful.items())
        return (
            f"{told} have no record in {database()}, expected at most a tenth: it may not be the database of the files "
            f"in {settings.DATA}. No stored file is removed"
        )


def find() -> Strays:
    """Every stored file that no row names, by store and name."""
    files: list[Stray] = []
    doubtful: dict[str, tuple[int, int]] = {}
    for alias in settings.STORAGES:
        if alias in NOT_OURS:
            continue
        storage = storages[alias]
        listed, named = sorted(_listed(storage)), _named(storage)
        unnamed = [name for name in listed if name not in named]
        if len(unnamed) > max(MANY, SHARE * len(listed)):
            doubtful[alias] = (len(unnamed), len(listed))
        files += _looked_at(alias, storage, unnamed)
    return Strays(files, doubtful)


def database() -> str:
    """The database that was looked at, for the operator: its file, or its name and host; never a password."""
    given = connection.settings_dict
    return f"{given['NAME']} on {given['HOST']}" if given.get("HOST") else str(given["NAME"])


def _looked_at(alias: str, storage: Storage, names: list[str]) -> Iterator[Stray]:
    for name in names:
        try:
            is_old = storage.get_modified_time(name) < timezone.now() - AFTER
            yield Stray(alias, name, storage.size(name), is_old)
        except FileNotFoundError:  # it went meanwhile
            continue


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
