"""KnowledgeNet's folds go where they belong, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare, Write


def document(fold: int, number: int) -> str:
    """Spacing that no JSON writer of ours would choose."""
    return f'{{"fold":  {fold}, "documentId" : "{number}", "passages":[]}}'


@pytest.fixture
def train(write: Write) -> list[str]:
    lines = [document(fold, number) for number, fold in enumerate([2, 4, 1, 3, 4, 2], start=1)]
    write("train.json", lines)
    return lines


def test_seen_folds_are_public_and_one_is_hidden(train: list[str], prepare: Prepare, work: Path) -> None:
    splits = {split.name: split for split in prepare("knowledgenet").manifest.splits}
    assert {name: (split.kind, split.gold_public) for name, split in splits.items()} == {
        "train": ("train", True),
        "fold-4": ("test", False),
    }
    assert (work / "fold-4.jsonl").read_text().splitlines() == [train[1], train[4]]
    assert (work / "train.jsonl").read_text().splitlines() == [train[2], train[0], train[5], train[3]]


def test_another_fold_can_be_hidden(train: list[str], prepare: Prepare, work: Path) -> None:
    manifest = prepare("knowledgenet", hidden_fold=3).manifest
    assert [phase.split for phase in manifest.phases] == ["fold-3"]
    assert (work / "fold-3.jsonl").read_text().splitlines() == [train[3]]
    assert train[1] in (work / "train.jsonl").read_text()


def test_the_fold_without_facts_is_inputs_alone(train: list[str], write: Write, prepare: Prepare, work: Path) -> None:
    write("test-no-facts.json", [document(5, 9)])
    blind = next(split for split in prepare("knowledgenet").manifest.splits if split.name == "fold-5")
    assert (blind.gold, blind.inputs, blind.gold_public) == ("", "fold-5.jsonl", False)
    assert (work / "fold-5.jsonl").read_text() == document(5, 9) + "\n"


def test_a_fold_that_is_not_there_cannot_be_hidden(train: list[str], prepare: Prepare) -> None:
    with pytest.raises(
        PublishedFileError, match=r"train\.json: found folds \[1, 2, 3, 4\], expected the hidden one, 5"
    ):
        prepare("knowledgenet", hidden_fold=5)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"fold": 9}', "train.json:2: fold, found 9, expected 1 to 5"),
        ('{"fold": "4"}', "train.json:2: Expected `int`, got `str`"),
        ("{", "train.json:2: Input data was truncated"),
        ("", "train.json:2: "),
    ],
)
def test_a_fault_says_where(line: str, told: str, write: Write, prepare: Prepare) -> None:
    write("train.json", [document(4, 1), line])
    with pytest.raises(PublishedFileError) as fault:
        prepare("knowledgenet")
    assert str(fault.value).startswith(told)


def test_what_is_missing_is_named(prepare: Prepare, published: Path) -> None:
    with pytest.raises(PublishedFileError, match=r"found no train\.json"):
        prepare("knowledgenet")


def test_two_candidates_are_no_choice_of_ours(train: list[str], write: Write, prepare: Prepare) -> None:
    write("train.jsonl", [document(4, 1)])
    with pytest.raises(PublishedFileError, match="expected only one of them"):
        prepare("knowledgenet")


def test_the_origin_of_a_line_is_known(train: list[str], prepare: Prepare) -> None:
    origins = prepare("knowledgenet").origins
    assert origins.of("fold-4.jsonl", 2) == "train.json:5"
    assert origins.of("train.jsonl", 1) == "train.json:3"
    assert origins.of("fold-4.jsonl", None) == "fold-4.jsonl"
    assert origins.of("fold-4.jsonl", 9) == "fold-4.jsonl"
    assert origins.of("elsewhere.jsonl", 1) == "elsewhere.jsonl:1"
    assert origins.of("elsewhere.jsonl", None) == "elsewhere.jsonl"
