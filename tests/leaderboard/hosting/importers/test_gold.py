"""Gold in a task's own format is hosted where it lies, under the task's name unless another is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.tasks.registry import TASKS
from leaderboard.hosting.importers import IMPORTERS, Choices, PublishedFileError

from .conftest import Prepare, Write

LINE = {"id": 1, "facts": []}


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_an_importer(task: str, published: Path, work: Path, write: Write) -> None:
    write("gold.jsonl", [LINE])
    manifest = IMPORTERS[task](published, work, Choices()).manifest
    assert (manifest.slug, manifest.task, manifest.title) == (task, task, TASKS[task].title)
    assert [(split.name, split.kind, split.gold_public) for split in manifest.splits] == [("test", "test", False)]


def test_a_folder_has_a_file_a_split(published: Path, write: Write, prepare: Prepare) -> None:
    for name in ("train.jsonl", "dev.jsonl.gz", "test.jsonl"):
        write(name, [LINE])
    imported = prepare("fact-extraction", slug="mine", title="Mine", options={"cross": "a,b"}, quota_per_day=7)
    manifest = imported.manifest
    assert imported.folder == published
    assert {split.name: (split.gold, split.gold_public) for split in manifest.splits} == {
        "train": ("train.jsonl", True),
        "dev": ("dev.jsonl.gz", False),
        "test": ("test.jsonl", False),
    }
    assert (manifest.slug, manifest.title) == ("mine", "Mine")
    assert [(phase.slug, phase.options, phase.quota_per_day) for phase in manifest.phases] == [
        ("dev", {"cross": "a,b"}, 7),
        ("test", {"cross": "a,b"}, 7),
    ]


def test_development_gold_is_public_on_request(write: Write, prepare: Prepare) -> None:
    write("dev.jsonl", [LINE])
    (split,) = prepare("fact-extraction", public_gold=frozenset({"dev"})).manifest.splits
    assert split.gold_public


def test_one_file_is_a_hidden_test(write: Write, work: Path) -> None:
    path = write("mine.jsonl", [LINE])
    imported = IMPORTERS["link-prediction"](path, work, Choices())
    (split,) = imported.manifest.splits
    assert (imported.folder, split.gold, split.name, split.gold_public) == (path.parent, "mine.jsonl", "test", False)
    assert not list(work.iterdir())


def test_what_is_no_gold_is_named(published: Path, write: Write, work: Path) -> None:
    path = write("gold.json", [LINE])
    with pytest.raises(PublishedFileError, match=r"gold\.json: the file name must end in \.jsonl"):
        IMPORTERS["fact-extraction"](path, work, Choices())
    with pytest.raises(PublishedFileError, match=r"found none of train\.jsonl, dev\.jsonl, test\.jsonl, gold\.jsonl"):
        IMPORTERS["fact-extraction"](published, work, Choices())
    with pytest.raises(PublishedFileError, match="no such folder"):
        IMPORTERS["fact-extraction"](published / "nowhere", work, Choices())


def test_training_gold_alone_is_no_benchmark(write: Write, prepare: Prepare) -> None:
    write("train.jsonl", [LINE])
    with pytest.raises(PublishedFileError, match="found only training gold"):
        prepare("fact-extraction")


def test_two_test_files_are_no_choice_of_ours(write: Write, prepare: Prepare) -> None:
    write("test.jsonl", [LINE])
    write("gold.jsonl", [LINE])
    with pytest.raises(PublishedFileError, match="expected only one of them"):
        prepare("fact-extraction")


def test_only_wikifacts_rows_come_with_gold(write: Write, prepare: Prepare) -> None:
    write("gold.jsonl", [LINE])
    assert len(prepare("fact-extraction").manifest.reported) == 4
    assert not prepare("metric-correlation").manifest.reported
