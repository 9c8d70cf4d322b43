"""The symmetric claims: every check that publishing makes, written again from the definition."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "mirror-claims"


def lines_of(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def split(name: str) -> list[dict[str, Any]]:
    return lines_of(f"splits/{name}.jsonl")


def members(lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Each group's members 1, 2, 3, 4, found by what they share with the original."""
    groups = defaultdict(list)
    for line in lines:
        groups[line["group"]].append(line)
    ordered = {}
    for name, group in groups.items():
        (first,) = (line for line in group if line["slices"]["origin"] == "original")
        (second,) = (x for x in group if x["claim"] == first["claim"] and x is not first)
        (third,) = (x for x in group if x["evidence_text"] == first["evidence_text"] and x is not first)
        (fourth,) = (x for x in group if x not in (first, second, third))
        ordered[name] = [first, second, third, fourth]
    return ordered


@pytest.mark.parametrize(("name", "size"), [("test", 120), ("dev", 40)])
def test_groups_are_symmetric(name: str, size: int) -> None:
    groups = members(split(name))
    assert len(groups) == size
    for one, two, three, four in groups.values():
        assert one["claim"] == two["claim"] != three["claim"] == four["claim"]
        assert one["evidence_text"] == three["evidence_text"] != two["evidence_text"] == four["evidence_text"]
        assert one["label"] == four["label"] != two["label"] == three["label"]
        assert {one["label"], two["label"]} == {"SUPPORTS", "REFUTES"}
        assert [line["slices"]["origin"] for line in (two, three, four)] == ["generated"] * 3
    claims = [line["claim"] for group in groups.values() for line in (group[0], group[2])]
    assert len(set(claims)) == 2 * size


@pytest.mark.parametrize("name", ["test", "dev"])
@pytest.mark.parametrize("text", ["claim", "evidence_text"])
def test_no_word_or_pair_of_words_tells_the_label(name: str, text: str) -> None:
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for line in split(name):
        tokens = re.findall(r"\w+", line[text].lower())
        for gram in [(token,) for token in tokens] + list(pairwise(tokens)):
            counts[gram][line["label"]] += 1
    assert len(counts) > 300
    assert {gram: count for gram, count in counts.items() if count["SUPPORTS"] != count["REFUTES"]} == {}


def test_train_claims_are_others_and_give_themselves_away() -> None:
    train, test = split("train"), split("test")
    assert not {line["claim"] for line in train} & {line["claim"] for line in test}
    cued = [line["label"] for line in train if re.search(r"\b(not|never|only|failed)\b", line["claim"])]
    assert cued.count("REFUTES") / len(cued) > 0.8
    assert len(cued) > 200


def test_a_claim_only_system_is_right_half_of_the_time() -> None:
    gold = {line["id"]: line for line in split("test")}
    answers = lines_of("predictions/test/claim-only.jsonl")
    right = {a["id"] for a in answers if a["predicted_label"] == gold[a["id"]]["label"]}
    assert (len(answers), len(right)) == (480, 240)
    original = {name for name, line in gold.items() if line["slices"]["origin"] == "original"}
    assert len(right & original) > 0.8 * len(original)  # it has learnt the cues, so the set does its work


def test_ids_and_order_tell_nothing() -> None:
    lines = split("test")
    by_id = sorted(range(len(lines)), key=lambda i: lines[i]["id"])
    for places in (range(len(lines)), by_id):
        for told in (lambda line: line["label"] == "SUPPORTS", lambda line: line["slices"]["origin"] == "original"):
            early = [told(lines[i]) for i in list(places)[:240]]
            late = [told(lines[i]) for i in list(places)[240:]]
            assert abs(sum(early) - sum(late)) <= 30  # below three standard deviations of a fair draw
        together = sum(lines[i]["group"] == lines[j]["group"] for i, j in pairwise(places))
        assert together <= 10  # three are expected by chance
