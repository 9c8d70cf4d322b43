"""Importer of a curator's own benchmark: a folder with a manifest `benchmark.json` and the files that it names."""

from __future__ import annotations

from pathlib import Path

import msgspec

from leaderboard.benchmarks import manifest
from leaderboard.hosting.importers.choices import Choices, Imported
from leaderboard.hosting.importers.published import Origins, PublishedFileError


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import the manifest in the folder `published`, with the slug, title, publication and public gold of `choices`.

    Quotas and task options stay as in the manifest, and so do slug and title if the choice is empty. `choices` can make
    the benchmark a draft and gold public, not the reverse. work: not used. Raises PublishedFileError.
    """
    _check_exists(published / "benchmark.json")
    try:
        read = manifest.read(published / "benchmark.json")
    except manifest.ManifestError as error:
        raise PublishedFileError(str(error)) from error
    chosen = {"slug": choices.slug or read.slug, "title": choices.title or read.title}
    splits = [
        msgspec.structs.replace(split, gold_public=split.gold_public or split.name in choices.public_gold)
        for split in read.splits
    ]
    public = read.public and choices.public
    whole = msgspec.structs.replace(read, splits=splits, public=public, **chosen)
    return Imported(manifest=whole, origins=Origins(), folder=published)


def _check_exists(path: Path) -> None:
    if not path.parent.is_dir():
        raise PublishedFileError(f"{path.parent}: no such folder; expected the one with {path.name}")
    if not path.is_file():
        raise PublishedFileError(
            f"{path}: no such file; expected the benchmark's description (docs/curators.md shows one)"
        )
