"""Importer of gold in a task's own format: one file, or a folder with files for train, dev and test."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.manifest import Manifest, SplitKind, SplitPart
from leaderboard.hosting.importers.choices import Choices, Imported, reported
from leaderboard.hosting.importers.published import Origins, PublishedFileError, find

ENDS = (".jsonl", ".jsonl.gz")
# For each split, its phase's title and its possible file names. A benchmark's page opens with the last phase.
SPLITS: dict[SplitKind, tuple[str, tuple[str, ...]]] = {
    "train": ("Training", ("train",)),
    "dev": ("Development", ("dev",)),
    "test": ("Test", ("test", "gold")),
}
# WikiFact was never released in full, so its published results are listed with any gold of the task fact-extraction.
REPORTED = frozenset({"fact-extraction"})


def prepare(task: str, published: Path, work: Path, choices: Choices) -> Imported:
    """Import gold files unchanged from their folder; only training gold is public.

    published: a folder, or one file of test gold. work: not used, since the files stay where they are. Gold in
    `choices.public_gold` is public too. The files are validated later, when they are hosted.
    """
    files: dict[SplitKind, Path] = {"test": published} if published.is_file() else _files(published)
    folder = published.parent if published.is_file() else published
    for path in files.values():
        if not path.name.endswith(ENDS):
            raise PublishedFileError(f"{path.name}: the file name must end in {' or '.join(ENDS)}")
    splits = [
        SplitPart(
            name=name,
            kind=name,
            gold=str(path.relative_to(folder)),
            gold_public=name == "train" or name in choices.public_gold,
        )
        for name, path in files.items()
    ]
    phases = [
        choices.phase(slug=split.name, title=SPLITS[split.kind][0], split=split.name)
        for split in splits
        if split.kind != "train"
    ]
    if not phases:
        raise PublishedFileError(f"{published}: found only training gold, expected dev or test gold too")
    manifest = Manifest(
        slug=choices.slug or task,
        title=choices.title or TASKS[task].title,
        task=task,
        summary=TASKS[task].summary[:300],
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=reported(task) if task in REPORTED else [],
    )
    return Imported(manifest=manifest, origins=Origins(), folder=folder)


def _files(folder: Path) -> dict[SplitKind, Path]:
    files: dict[SplitKind, Path] = {}
    for split, (_, stems) in SPLITS.items():
        path = find(folder, [stem + end for stem in stems for end in ENDS])
        if path is not None:
            files[split] = path
    if not files:
        names = ", ".join(stem + ENDS[0] for _, stems in SPLITS.values() for stem in stems)
        raise PublishedFileError(
            f"{folder}: found none of {names}, plain or with .gz, here or one folder down; expected one of them, or "
            "pass the path of a gold file"
        )
    return files


def of(task: str) -> Callable[[Path, Path, Choices], Imported]:
    """Return the importer of files that are in the gold format of the task with this name."""
    return partial(prepare, task)
