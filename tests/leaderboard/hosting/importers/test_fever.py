"""FEVER's files become splits line by line; salted ids on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare, Write, lines_of

LINE = '{"id":  7, "verifiable": "VERIFIABLE", "label": "SUPPORTS", "claim": "é", "evidence": [[[1, 2, "A_b", 0]]]}'
OTHER = '{"id": 8, "label": "NOT ENOUGH INFO", "claim": "c", "evidence": [[[1, null, null, null]]]}'


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("paper_dev.jsonl", "paper-dev"),
        ("gold_paper_dev.jsonl", "paper-dev"),
        ("shared_task_dev.jsonl", "shared-task-dev"),
        ("paper_test.jsonl", "paper-test"),
    ],
)
def test_a_published_file_is_hidden_as_it_is(name: str, split: str, write: Write, prepare: Prepare, work: Path) -> None:
    write(name, [LINE, OTHER])
    manifest = prepare("fever").manifest
    assert [(part.name, part.gold_public) for part in manifest.splits] == [(split, False)]
    assert [(phase.split, phase.options) for phase in manifest.phases] == [(split, {"max_evidence": "5"})]
    assert (work / f"{split}.jsonl").read_text() == f"{LINE}\n{OTHER}\n"


def test_training_claims_alone_are_no_benchmark(write: Write, prepare: Prepare) -> None:
    write("train.jsonl", [LINE])
    with pytest.raises(PublishedFileError, match=r"found no shared_task_dev\.jsonl"):
        prepare("fever")


def test_splits_can_be_made_public(write: Write, prepare: Prepare) -> None:
    write("train.jsonl", [LINE])
    write("paper_dev.jsonl", [OTHER])
    splits = prepare("fever", public_gold=frozenset({"paper-dev"})).manifest.splits
    assert {part.name: part.gold_public for part in splits} == {"paper-dev": True, "train": True}


def test_salted_ids_keep_everything_else(write: Write, prepare: Prepare, work: Path) -> None:
    write("paper_dev.jsonl", [LINE, OTHER])
    imported = prepare("fever", salt_ids=True, salt="pepper")
    found = {line["id"]: line for line in lines_of(work / "paper-dev.jsonl")}
    assert set(imported.id_map) == {"7", "8"}
    line = found[imported.id_map["7"]]
    assert {key: line[key] for key in line if key != "id"} == {
        "verifiable": "VERIFIABLE",
        "label": "SUPPORTS",
        "claim": "é",
        "evidence": [[[1, 2, "A_b", 0]]],
    }
    assert imported.origins.of("paper-dev.jsonl", list(found).index(imported.id_map["8"]) + 1) == "paper_dev.jsonl:2"
