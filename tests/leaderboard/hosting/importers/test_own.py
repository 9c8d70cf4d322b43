"""A folder with benchmark.json is hosted as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare

MANIFEST = {
    "slug": "mine",
    "title": "Mine",
    "task": "fact-verification",
    "summary": "Claims.",
    "splits": [
        {"name": "dev", "kind": "dev", "gold": "dev.jsonl"},
        {"name": "test", "kind": "test", "gold": "t.jsonl"},
    ],
    "phases": [{"slug": "test", "title": "Test", "split": "test", "quota_per_day": 3}],
}


def test_choices_change_what_they_name_and_nothing_else(published: Path, prepare: Prepare) -> None:
    (published / "benchmark.json").write_text(json.dumps(MANIFEST))
    imported = prepare("own", slug="other", public=False, public_gold=frozenset({"dev"}))
    assert imported.folder == published
    manifest = imported.manifest
    assert (manifest.slug, manifest.title, manifest.public) == ("other", "Mine", False)
    assert {split.name: split.gold_public for split in manifest.splits} == {"dev": True, "test": False}
    assert manifest.phases[0].quota_per_day == 3


@pytest.mark.parametrize("content", [None, "{", json.dumps({**MANIFEST, "splits": []}), json.dumps({"slug": "mine"})])
def test_a_manifest_at_fault_is_named(content: str | None, published: Path, prepare: Prepare) -> None:
    if content is not None:
        (published / "benchmark.json").write_text(content)
    with pytest.raises(PublishedFileError, match=r"benchmark\.json: "):
        prepare("own")


def test_a_manifest_that_is_not_there_is_told_as_a_folder_would_be(published: Path, prepare: Prepare) -> None:
    with pytest.raises(PublishedFileError) as fault:
        prepare("own")
    assert str(fault.value).startswith(f"{published}/benchmark.json: no such file; expected")
    published.rmdir()
    with pytest.raises(PublishedFileError) as fault:
        prepare("own")
    assert str(fault.value).startswith(f"{published}: no such folder; expected the one with benchmark.json")
    assert "Errno" not in str(fault.value)
