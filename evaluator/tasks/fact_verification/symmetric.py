"""Checks before a symmetric set is published (Schuster et al. 2019).

Each group has four members: 1 = (c, e, l), the original; 2 = (c, e', not l); 3 = (c', e, not l); 4 = (c', e', l). Where
that holds, a claim or an evidence sentence alone says nothing about the label.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from evaluator.errors import shown

Line = Mapping[str, Any]

_TOKEN = re.compile(r"\w+")
_MAX_NAMED = 10


def check_symmetric(lines: Iterable[Line]) -> list[str]:
    """What is wrong with a symmetric set, a sentence each; an empty list: it may be published.

    lines: gold lines with `claim`, `evidence_text`, `label`, `group` and the slice `origin`. Sentences name groups and
    n-grams, which the public does not see: they are for the curator.
    """
    lines = list(lines)
    faults = []
    for place, fault in symmetric_faults(lines):
        group = "" if place is None else f"group {shown(_group(lines[place]))}: "
        faults.append(f"{group}{fault}")
    return faults


def symmetric_faults(lines: Sequence[Line]) -> Iterator[tuple[int | None, str]]:
    """The same without groups' names: each fault with the place of its group's first line; None: of the whole set."""
    groups: dict[Any, list[Line]] = defaultdict(list)
    first: dict[Any, int] = {}
    for place, line in enumerate(lines):
        # Labels are compared as the scorer compares them, without regard to case.
        groups[_group(line)].append({**line, "label": str(line["label"]).upper()})
        first.setdefault(_group(line), place)
    for name, members in groups.items():
        yield from ((first[name], fault) for fault in _group_faults(members))
    yield from ((first[name], fault) for name, fault in _both_labels(groups))
    everyone = [line for group in groups.values() for line in group]
    for field in ("claim", "evidence_text"):
        yield from ((None, fault) for fault in _one_sided(field, everyone))


def _group(line: Line) -> Any:
    return line.get("group", line.get("id"))


def _group_faults(members: list[Line]) -> Iterator[str]:
    if len(members) != 4:
        yield f"{len(members)} members, expected 4"
        return
    if any(not isinstance(member.get("evidence_text"), str) for member in members):
        yield "a member without evidence_text, expected a sentence to judge each claim by"
        return
    if any(_origin(member) is None for member in members):
        yield "a member without slices.origin, expected original or generated"
        return
    originals = [member for member in members if _origin(member) == "original"]
    if len(originals) != 1 or any(_origin(member) not in ("original", "generated") for member in members):
        yield f"{len(originals)} members of origin original, expected 1, and 3 of origin generated"
        return
    first = originals[0]
    others = [member for member in members if member is not first]
    second = [m for m in others if m["claim"] == first["claim"] and m["evidence_text"] != first["evidence_text"]]
    third = [m for m in others if m["claim"] != first["claim"] and m["evidence_text"] == first["evidence_text"]]
    if len(second) != 1 or len(third) != 1:
        yield "expected one more member with the original's claim, and one with its evidence"
        return
    (fourth,) = (m for m in others if m is not second[0] and m is not third[0])
    if fourth["claim"] != third[0]["claim"]:
        yield "the claims of members 3 and 4 differ, expected the same text"
    if fourth["evidence_text"] != second[0]["evidence_text"]:
        yield "the evidence of members 2 and 4 differs, expected the same text"
    if first["label"] != fourth["label"] or second[0]["label"] != third[0]["label"]:
        yield "labels of members 1 and 4, or of 2 and 3, differ, expected the same"
    if first["label"] == second[0]["label"]:
        yield "members 1 and 2 have one label, expected different ones"


def _both_labels(groups: Mapping[Any, list[Line]]) -> Iterator[tuple[Any, str]]:
    """Groups that have another one's claim with its evidence, under another label."""
    seen: dict[tuple[Any, Any], tuple[Any, Any]] = {}
    for name, members in groups.items():
        own = {(m["claim"], m["evidence_text"]): m["label"] for m in members if isinstance(m.get("evidence_text"), str)}
        told = [(pair, seen[pair]) for pair, label in own.items() if pair in seen and seen[pair][1] != label]
        if told:
            (claim, _), (other, _) = told[0]
            yield (
                name,
                (
                    f"{len(told)} claims with their evidence stand in group {shown(other)}, too, with another label "
                    f"({shown(claim)}), expected one label each"
                ),
            )
        for pair, label in own.items():
            seen.setdefault(pair, (name, label))


def _origin(member: Line) -> Any:
    return (member.get("slices") or {}).get("origin")


def _one_sided(field: str, members: list[Line]) -> Iterator[str]:
    """Texts and n-grams whose occurrences are not spread evenly over the labels: p(l|w) is not one half."""
    labels = sorted({member["label"] for member in members})
    if len(labels) != 2:
        yield f"{field}: {len(labels)} labels, expected 2"
        return
    for noun, parts in (("text", _whole), ("unigram", _unigrams), ("bigram", _bigrams)):
        balance: Counter[str] = Counter()
        for member in members:
            sign = 1 if member["label"] == labels[0] else -1
            text = member.get(field)
            for part in parts(text) if isinstance(text, str) else ():
                balance[part] += sign
        uneven = [part for part, sum_ in balance.items() if sum_]
        for part in uneven[:_MAX_NAMED]:
            yield f"{field}: {noun} {shown(part)} tells the label, expected as often with either"
        if len(uneven) > _MAX_NAMED:
            yield f"{field}: {len(uneven) - _MAX_NAMED} more {noun}s tell the label"


def _whole(text: str) -> list[str]:
    return [text]


def _unigrams(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _bigrams(text: str) -> list[str]:
    tokens = _unigrams(text)
    return [f"{first} {second}" for first, second in pairwise(tokens)]
