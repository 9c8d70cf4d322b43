"""Symmetric sets: groups and origins as published, ids that tell nothing."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from leaderboard.hosting.importers import IMPORTERS, Choices, PublishedFileError

from .conftest import Prepare, Write, lines_of

FULL, DEV = "fever_symmetric_full.jsonl", "fever_symmetric_dev.jsonl"
SUFFIX = re.compile(r"(.+?)(?:000000[234])?")


def quadruple(base: str, *, key: str = "evidence_sentence") -> list[dict[str, Any]]:
    members = [("", 0, 0, "REFUTES"), ("2", 0, 1, "SUPPORTS"), ("3", 1, 0, "SUPPORTS"), ("4", 1, 1, "REFUTES")]
    return [
        {
            "id": f"{base}000000{number}" if number else base,
            "claim": f"claim {base} {'ab'[claim]}",
            key: f"sentence {base} {'cd'[sentence]}",
            "label": label,
        }
        for number, claim, sentence, label in members
    ]


def test_members_of_a_group_are_told_from_the_published_ids_and_from_nothing_else(
    write: Write, prepare: Prepare, work: Path
) -> None:
    write(FULL, quadruple("111") + quadruple("22"))
    write(DEV, quadruple("333", key="evidence"))
    imported = prepare("fever-symmetric", salt="pepper")
    golds = lines_of(work / "v0-1.jsonl")
    assert len(golds) == 8
    assert {(gold["slices"]["origin"]) for gold in golds} == {"original", "generated"}
    published = {public: old for old, public in imported.id_map.items()}
    groups: dict[str, set[str]] = {}
    for gold in golds:
        old = published[gold["id"]]
        assert gold["slices"] == {"origin": "original" if old in ("111", "22") else "generated"}
        groups.setdefault(gold["group"], set()).add(SUFFIX.fullmatch(old)[1])
        for text in (gold["id"], gold["group"]):
            assert re.fullmatch("[0-9a-f]{16}", text)
    assert sorted(map(list, groups.values())) == [["111"], ["22"]]
    assert not set(groups) & set(published)
    assert [gold["id"] for gold in golds] == sorted(gold["id"] for gold in golds)
    assert lines_of(work / "v0-2-dev.jsonl")[0]["evidence_text"].startswith("sentence 333")


def test_the_salt_decides_the_ids(write: Write, published: Path, tmp_path: Path) -> None:
    write(FULL, quadruple("111"))

    def ids(salt: str) -> dict[str, str]:
        work = tmp_path / f"work-{random.random()}"
        work.mkdir()
        return IMPORTERS["fever-symmetric"](published, work, Choices(salt=salt)).id_map

    assert ids("one") == ids("one")
    assert set(ids("one").values()).isdisjoint(ids("two").values())
    assert set(ids("").values()).isdisjoint(ids("").values())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows.pop(0), rf"{FULL}:1: id 1110000002 names member 2 of group 111"),
        (lambda rows: rows.pop(), r'group "111": 3 members, expected 4'),
        (lambda rows: rows[2].update(claim="claim 111 a"), 'group "111"'),
        (lambda rows: rows[3].update(label="SUPPORTS"), "labels of members 1 and 4"),
        (lambda rows: rows[1].update(label="NOT ENOUGH INFO"), rf"{FULL}:2: label, found 'NOT ENOUGH INFO'"),
        (lambda rows: rows[3].pop("evidence_sentence"), rf"{FULL}:4: found no evidence sentence"),
    ],
)
def test_a_set_that_is_not_symmetric_is_refused(change: Any, told: str, write: Write, prepare: Prepare) -> None:
    rows = quadruple("111")
    change(rows)
    write(FULL, rows)
    with pytest.raises(PublishedFileError, match=told):
        prepare("fever-symmetric")


def test_generated_pairs_alone_are_no_split(write: Write, prepare: Prepare, published: Path, work: Path) -> None:
    write("fever_symmetric_generated.jsonl", quadruple("111")[1:])
    with pytest.raises(PublishedFileError, match=r"generated\.jsonl: its groups lack their originals"):
        prepare("fever-symmetric")
    write(FULL, quadruple("111"))
    assert [split.name for split in prepare("fever-symmetric").manifest.splits] == ["v0-1"]
    (work / "v0-1.jsonl").unlink()
    write("fever_symmetric_generated.jsonl", quadruple("111")[2:] + quadruple("22")[2:])
    with pytest.raises(PublishedFileError, match=r"generated\.jsonl:3: pair 220000003 is not in fever_symmetric_full"):
        prepare("fever-symmetric")
    (work / "v0-1.jsonl").unlink()
    changed = quadruple("111")[2]
    write("fever_symmetric_generated.jsonl", [{**changed, "claim": "Another claim."}])
    with pytest.raises(PublishedFileError, match="differs from the one in fever_symmetric_full"):
        prepare("fever-symmetric")


def test_public_gold_must_not_answer_a_hidden_split(write: Write, prepare: Prepare) -> None:
    write(FULL, quadruple("111") + quadruple("22"))
    write(DEV, quadruple("111", key="evidence"))
    with pytest.raises(PublishedFileError, match="public gold of v0-2-dev would reveal 4 answers of v0-1"):
        prepare("fever-symmetric", public_gold=frozenset({"v0-2-dev"}))


@pytest.mark.realdata
@pytest.mark.parametrize(("version", "split"), [("v0.1_full", "v0-1"), ("v0.2_dev", "v0-2-dev")])
def test_groups_and_origins_agree_with_an_independent_conversion(
    version: str, split: str, realdata: Path, work: Path
) -> None:
    imported = IMPORTERS["fever-symmetric"](realdata / "symmetric", work, Choices(salt="pepper"))
    found = {gold["id"]: gold for gold in lines_of(work / f"{split}.jsonl")}
    groups: dict[str, str] = {}
    expected = lines_of(realdata / "symmetric" / version / "gold.jsonl")
    assert len(found) == len(expected)
    for gold in expected:
        ours = found[imported.id_map[gold["id"]]]
        assert groups.setdefault(gold["group"], ours["group"]) == ours["group"]
        told = ("claim", "evidence_text", "label", "slices")
        assert [ours[key] for key in told] == [gold[key] for key in told]
    assert len(set(groups.values())) == len(groups)


@pytest.mark.realdata
def test_public_ids_and_their_order_tell_neither_origin_nor_label(realdata: Path, work: Path) -> None:
    IMPORTERS["fever-symmetric"](realdata / "symmetric", work, Choices(salt="pepper"))
    rows = [(line["id"], line["label"], line["slices"]["origin"]) for line in lines_of(work / "v0-1.jsonl")]
    for told in (1, 2):
        for number in (lambda row, place: int(row[0], 16), lambda row, place: place):
            values = [number(row, place) for place, row in enumerate(rows)]
            marks = [row[told] == rows[0][told] for row in rows]
            assert permutation_p(values, marks) > 0.01


def permutation_p(values: list[int], marks: list[bool], rounds: int = 500) -> float:
    """How often a random marking separates the means as much as this one does."""

    def gap(marked: list[bool]) -> float:
        pairs = list(zip(values, marked, strict=True))
        return abs(mean(v for v, m in pairs if m) - mean(v for v, m in pairs if not m))

    draw = random.Random(1)
    seen = gap(marks)
    return sum(gap(draw.sample(marks, len(marks))) >= seen for _ in range(rounds)) / rounds


def test_json_stays_text(write: Write, prepare: Prepare, work: Path) -> None:
    rows = json.loads(json.dumps(quadruple("111")).replace("claim 111", "caf\\u00e9 \\ud83d\\ude00"))
    write(FULL, rows)
    prepare("fever-symmetric")
    assert {gold["claim"] for gold in lines_of(work / "v0-1.jsonl")} == {"café 😀 a", "café 😀 b"}
