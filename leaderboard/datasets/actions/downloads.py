"""Public files that a dataset offers beside its splits."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.core.files import File
from django.db import transaction

from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.models import AuditEntry, Dataset, Download, GoldVersion, User


def add(*, dataset: Dataset, name: str, title: str, file: File[bytes], by: User, description: str = "") -> Download:
    """Offer a file to everybody who may see the dataset's benchmarks; its name gives the ending, such as .tsv.

    The very same file under its name is answered with what is there. Raises Refused: NAME_TAKEN for another one,
    INVALID_GOLD for a file that is hidden gold of the dataset, INVALID_NAME, NOT_AN_ORGANISER. Nothing is left then.
    """
    check_manages(dataset, by)
    digest = sha256_of(file)
    there = dataset.downloads.filter(name=name).first()
    if there is not None:
        if there.sha256 != digest:
            raise Refused(Code.NAME_TAKEN, f"Another file is offered as {there} already, and it stays.")
        return there
    _check_is_not_hidden(dataset, digest)
    made = Download(
        dataset=dataset,
        name=name,
        title=title,
        description=description,
        suffix=_suffix(file.name or ""),
        sha256=digest,
        bytes=file.size,
        file=file,
    )
    validation.check(made)
    file.seek(0)
    made.file.save(f"{name}{made.suffix}", file, save=False)
    try:
        with transaction.atomic():
            made.save(force_insert=True)
            AuditEntry.record("download.added", made, by=by, dataset=dataset.slug, name=name, sha256=digest)
    except BaseException:
        made.file.storage.delete(str(made.file.name))
        raise
    return made


def _suffix(name: str) -> str:
    """The ending of a file's name, lower-cased: two parts of it where the last is .gz, else one."""
    endings = PurePosixPath(name).suffixes
    return "".join(endings[-2:] if endings[-1:] == [".gz"] else endings[-1:]).lower()


def _check_is_not_hidden(dataset: Dataset, digest: str) -> None:
    golds = GoldVersion.objects.filter(split__dataset=dataset, split__gold_public=False, sha256=digest)
    found = golds.select_related("split").first()
    if found is not None:
        raise Refused(Code.INVALID_GOLD, f"This file is the hidden gold of {found.split.name}; expected a public one.")
