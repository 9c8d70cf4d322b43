"""The open facts: nothing in training says what is asked, and questions are what section 4 of the protocols says."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "open-facts"
Triple = tuple[str, str, str]

# What the extractor found before anything was taken out; of the generator, this alone is believed.
RAW = """
import json, random, make
world = make.World(random.Random(make.SEED))
print(json.dumps([world.said, world.mentions]))
"""


def split(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"splits/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def table(name: str) -> list[tuple[str, ...]]:
    text = (FOLDER / "train" / name).read_text(encoding="utf-8")
    return [tuple(row.split("\t")) for row in text.removesuffix("\n").split("\n")]


@pytest.fixture(scope="module")
def raw() -> tuple[list[Triple], dict[str, list[str]]]:
    command = [sys.executable, "-B", "-c", RAW]
    said, mentions = json.loads(subprocess.run(command, check=True, cwd=FOLDER, capture_output=True).stdout)
    return [(s, r, o) for s, r, o in said], mentions


@pytest.fixture(scope="module")
def train() -> list[Triple]:
    return [(s, r, o) for s, r, o in table("triples.tsv")]


@pytest.fixture(scope="module")
def names() -> dict[str, list[str]]:
    """Mention -> all mentions of what it means; the mention alone where that is not known."""
    bearers = defaultdict(list)
    for mention, entity in table("mentions.tsv"):
        bearers[entity or f"? {mention}"].append(mention)
    return {mention: same for same in bearers.values() for mention in same}


def evaluated(lines: list[dict[str, Any]]) -> list[Triple]:
    """The triple of each group: its tail question's subject and relation, its head question's object."""
    groups = defaultdict(dict)
    for line in lines:
        groups[line["group"]][line["slices"]["side"]] = line["question"]
    found = []
    for group in groups.values():
        assert set(group) == {"head", "tail"}
        (subject, relation, asked), (other, same, object_) = group["tail"], group["head"]
        assert (asked, other, same) == ("?", "?", relation)
        found.append((subject, relation, object_))
    return found


@pytest.fixture(scope="module")
def asked() -> list[Triple]:
    return [triple for name in ("test", "dev") for triple in evaluated(split(name))]


def test_every_triple_is_asked_from_both_ends(asked: list[Triple], names: dict[str, list[str]]) -> None:
    assert (len(split("test")), len(split("dev"))) == (240, 80)
    assert len(set(asked)) == len(asked) == 160
    entities = {mention for mention, entity in table("mentions.tsv") if entity}
    for subject, relation, object_ in asked:
        assert {subject, object_} <= entities
        assert len(relation.split()) >= 3
    assert max(map(len, names.values())) >= 3


@pytest.mark.parametrize("name", ["test", "dev"])
def test_answers_and_filtered_mentions(
    name: str, train: list[Triple], asked: list[Triple], names: dict[str, list[str]]
) -> None:
    triples = {line["group"]: triple for line, triple in _with_triples(split(name))}
    several = 0
    for line in split(name):
        subject, relation, object_ = line["question"]
        answer = triples[line["group"]][2 if object_ == "?" else 0]
        assert sorted(line["answers"]) == sorted(names[answer])
        known = {
            mention
            for s, r, o in [*train, *asked]
            if r == relation and (s == subject if object_ == "?" else o == object_)
            for mention in names[o if object_ == "?" else s]
        }
        assert set(line["filtered"]) == known - set(line["answers"])
        assert len(line["filtered"]) == len(set(line["filtered"]))
        several += bool(line["filtered"])
    assert several >= 3


def _with_triples(lines: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Triple]]:
    groups = list(dict.fromkeys(line["group"] for line in lines))
    found = dict(zip(groups, evaluated(lines), strict=True))
    return [(line, found[line["group"]]) for line in lines]


def test_training_is_what_thorough_cleaning_leaves(
    raw: tuple[list[Triple], dict[str, list[str]]], train: list[Triple], asked: list[Triple]
) -> None:
    """Each rule of the paper by itself, for each training triple and each evaluated one."""
    said, mentions = raw
    meant = {mention: same for same in mentions.values() for mention in same}
    counts = [Counter(), Counter()]
    for subject, relation, object_ in said:
        counts[0].update(f"{subject} {object_}".lower().split())
        counts[1].update(relation.lower().split())
    stops = {word for count in counts for word in sorted(count, key=lambda word: (-count[word], word))[:25]}

    def bag(text: str) -> set[str]:
        return set(text.lower().split()) - stops or set(text.lower().split())

    bags = {text: bag(text) for triple in said for text in triple}
    bags |= {mention: bag(mention) for mention in meant}
    used: Counter[str] = Counter()
    left = []
    for triple in said:
        s, r, o = (bags[text] for text in triple)
        why = set()
        for i, k, j in asked:
            link = bags[k]
            for a, b in product((bags[name] for name in meant[i]), (bags[name] for name in meant[j])):
                if r == link and ((s == a and o == b) or (s == b and o == a)):
                    why.add("basic")
                if (s == a and o == b) or (s == b and o == a):
                    why.add("a")
                if (s == a and r >= link | b) or (o == b and r >= link | a):
                    why.add("b")
                whole = a | link | b
                if s >= whole or o >= whole:
                    why.add("c")
        used.update(why)
        if not why:
            left.append(triple)
    assert sorted(left) == sorted(train)
    assert min(used[rule] for rule in ("basic", "a", "b", "c")) >= 2  # the world tries each rule


def test_simple_and_basic_take_out_less(
    raw: tuple[list[Triple], dict[str, list[str]]], asked: list[Triple], names: dict[str, list[str]]
) -> None:
    said, _ = raw
    counts = [Counter(), Counter()]
    for subject, relation, object_ in said:
        counts[0].update(f"{subject} {object_}".lower().split())
        counts[1].update(relation.lower().split())
    stops = {word for count in counts for word in sorted(count, key=lambda word: (-count[word], word))[:25]}

    def bag(text: str) -> frozenset[str]:
        words = frozenset(text.lower().split())
        return words - stops or words

    exact = set(asked)
    same = {
        (bag(one), bag(k), bag(other))
        for i, k, j in asked
        for a, b in product(names[i], names[j])
        for one, other in ((a, b), (b, a))
    }
    simple = sorted(triple for triple in said if triple not in exact)
    basic = [triple for triple in simple if tuple(map(bag, triple)) not in same]
    assert table("simple.tsv") == simple
    assert table("basic.tsv") == basic
    assert len(simple) > len(basic) > len(table("triples.tsv"))


def test_the_mention_list_holds_every_mention(train: list[Triple]) -> None:
    listed = [mention for mention, _ in table("mentions.tsv")]
    assert len(listed) == len(set(listed))
    assert {end for s, _, o in train for end in (s, o)} <= set(listed)
    answers = {mention for name in ("test", "dev") for line in split(name) for mention in line["answers"]}
    assert answers <= set(listed)


def test_ids_and_order_tell_neither_side_nor_triple() -> None:
    lines = split("test")
    rng = random.Random(1)
    marks = [line["slices"]["side"] for line in lines]
    turns = sum(one != other for one, other in pairwise(marks))
    drawn = [rng.sample(marks, len(marks)) for _ in range(400)]
    found = [sum(one != other for one, other in pairwise(draw)) for draw in drawn]
    assert min(found) <= turns <= max(found)
    together = sum(one["group"] == other["group"] for one, other in pairwise(lines))
    assert together <= 5  # one is expected by chance
