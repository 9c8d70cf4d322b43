"""Downloads: additional public files of a dataset, such as a knowledge graph."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.core.files import File
from django.db import transaction

from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import deleted_on_failure
from leaderboard.core.uploads import sha256_of
from leaderboard.models import AuditEntry, Dataset, Download, GoldVersion, User


def add(*, dataset: Dataset, name: str, title: str, file: File[bytes], by: User, description: str = "") -> Download:
    """Offer a file as a download to everybody who may see a benchmark on the dataset.

    name: the download's name in URLs. Its suffix, such as .tsv, is that of `file.name`. Returns the existing download
    if the dataset already has the same bytes under `name`. Raises Refused, and then stores nothing: NAME_TAKEN if the
    dataset has a different file under `name`, INVALID_GOLD for a file that is hidden gold of the dataset, INVALID_VALUE
    for an invalid name, title, description or suffix, NOT_AN_ORGANISER.
    """
    check_manages_dataset(dataset, by)
    digest = sha256_of(file)
    existing = dataset.downloads.filter(name=name).first()
    if existing is not None:
        if existing.sha256 != digest:
            raise Refused(Code.NAME_TAKEN, f"A different file already has the name {existing}; expected another name.")
        return existing
    _check_is_not_hidden(dataset, digest)
    download = Download(
        dataset=dataset,
        name=name,
        title=title,
        description=description,
        suffix=_suffix(file.name or ""),
        sha256=digest,
        bytes=file.size,
        file=file,
    )
    validation.check(download)
    file.seek(0)
    download.file.save(f"{name}{download.suffix}", file, save=False)
    with deleted_on_failure(download.file.storage, str(download.file.name)), transaction.atomic():
        download.save(force_insert=True)
        AuditEntry.record("download.added", download, by=by, dataset=dataset.slug, name=name, sha256=digest)
    return download


def _suffix(name: str) -> str:
    """Return the suffix of a file name in lower case, such as `.tsv`; with .gz two parts, as in `.tsv.gz`.

    Empty for a name without suffix.
    """
    endings = PurePosixPath(name).suffixes
    return "".join(endings[-2:] if endings[-1:] == [".gz"] else endings[-1:]).lower()


def _check_is_not_hidden(dataset: Dataset, digest: str) -> None:
    golds = GoldVersion.objects.filter(split__dataset=dataset, split__gold_public=False, sha256=digest)
    gold = golds.select_related("split").first()
    if gold is not None:
        raise Refused(Code.INVALID_GOLD, f"This file is the hidden gold of {gold.split.name}; expected a public file.")
