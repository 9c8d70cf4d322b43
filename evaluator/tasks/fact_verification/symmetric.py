"""Validation of symmetric sets before publication (Schuster et al. 2019).

A group has four members, made of two claims c and c', two evidence sentences e and e', and two labels l and l': 1 = (c,
e, l), the original; 2 = (c, e', l'); 3 = (c', e, l'); 4 = (c', e', l). If all groups are like that, a claim or an
evidence sentence alone carries no information about the label.
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
    """Return the faults of a symmetric set, one sentence each; an empty list means that it can be published.

    lines: gold lines with `claim`, `evidence_text`, `label`, `group` and the dimension `origin` (original or
    generated). The faults name groups and n-grams of hidden gold, so only those who manage the split may see them.
    """
    lines = list(lines)
    problems = []
    for index, problem in symmetric_problems(lines):
        group = "" if index is None else f"group {shown(_group(lines[index]))}: "
        problems.append(f"{group}{problem}")
    return problems


def symmetric_problems(lines: Sequence[Line]) -> Iterator[tuple[int | None, str]]:
    """Yield each fault of a symmetric set as (index, description).

    The index is that of the first line of the faulty group; None for a fault of the whole set.
    """
    groups: dict[Any, list[Line]] = defaultdict(list)
    first: dict[Any, int] = {}
    for index, line in enumerate(lines):
        # Labels are compared as in the scorer, ignoring case.
        groups[_group(line)].append({**line, "label": str(line["label"]).upper()})
        first.setdefault(_group(line), index)
    for name, members in groups.items():
        yield from ((first[name], problem) for problem in _group_problems(members))
    yield from ((first[name], problem) for name, problem in _both_labels(groups))
    everyone = [line for group in groups.values() for line in group]
    for field in ("claim", "evidence_text"):
        yield from ((None, problem) for problem in _one_sided(field, everyone))


def _group(line: Line) -> Any:
    return line.get("group", line.get("id"))


def _group_problems(members: list[Line]) -> Iterator[str]:
    if len(members) != 4:
        yield f"{len(members)} members, expected 4"
        return
    if any(not isinstance(member.get("evidence_text"), str) for member in members):
        yield "a member has no evidence_text, expected a sentence as evidence for each claim"
        return
    if any(_origin(member) is None for member in members):
        yield "a member has no slices.origin, expected original or generated"
        return
    originals = [member for member in members if _origin(member) == "original"]
    if len(originals) != 1 or any(_origin(member) not in ("original", "generated") for member in members):
        yield f"{len(originals)} members with origin original, expected 1, and 3 with origin generated"
        return
    first = originals[0]
    others = [member for member in members if member is not first]
    second = [m for m in others if m["claim"] == first["claim"] and m["evidence_text"] != first["evidence_text"]]
    third = [m for m in others if m["claim"] != first["claim"] and m["evidence_text"] == first["evidence_text"]]
    if len(second) != 1 or len(third) != 1:
        yield (
            "the crossed members are missing, expected one more member with the original's claim, "
            "and one with its evidence"
        )
        return
    (fourth,) = (m for m in others if m is not second[0] and m is not third[0])
    if fourth["claim"] != third[0]["claim"]:
        yield "the claims of members 3 and 4 differ, expected the same text"
    if fourth["evidence_text"] != second[0]["evidence_text"]:
        yield "the evidence of members 2 and 4 differs, expected the same text"
    if first["label"] != fourth["label"] or second[0]["label"] != third[0]["label"]:
        yield "labels of members 1 and 4, or of 2 and 3, differ, expected equal labels"
    if first["label"] == second[0]["label"]:
        yield "members 1 and 2 have the same label, expected different labels"


def _both_labels(groups: Mapping[Any, list[Line]]) -> Iterator[tuple[Any, str]]:
    """Yield (group, description) for each group that contradicts an earlier one.

    Two groups contradict each other if they have the same claim and evidence with different labels.
    """
    seen: dict[tuple[Any, Any], tuple[Any, Any]] = {}
    for name, members in groups.items():
        labels = {
            (m["claim"], m["evidence_text"]): m["label"] for m in members if isinstance(m.get("evidence_text"), str)
        }
        clashes = [(pair, seen[pair]) for pair, label in labels.items() if pair in seen and seen[pair][1] != label]
        if clashes:
            (claim, _), (other, _) = clashes[0]
            yield (
                name,
                (
                    f"{len(clashes)} claims with their evidence are also in group {shown(other)}, with another label "
                    f"({shown(claim)}), expected one label each"
                ),
            )
        for pair, label in labels.items():
            seen.setdefault(pair, (name, label))


def _origin(member: Line) -> Any:
    return (member.get("slices") or {}).get("origin")


def _one_sided(field: str, members: list[Line]) -> Iterator[str]:
    """Yield a description of each text, unigram or bigram that does not occur equally often with both labels.

    If there are not exactly two labels, only this fault is yielded. field: the field whose texts are examined, `claim`
    or `evidence_text`.
    """
    labels = sorted({member["label"] for member in members})
    if len(labels) != 2:
        yield f"{field}: {len(labels)} labels, expected 2"
        return
    for noun, extract in (("text", _whole), ("unigram", _unigrams), ("bigram", _bigrams)):
        balance: Counter[str] = Counter()
        for member in members:
            sign = 1 if member["label"] == labels[0] else -1
            text = member.get(field)
            for part in extract(text) if isinstance(text, str) else ():
                balance[part] += sign
        uneven = [part for part, surplus in balance.items() if surplus]
        for part in uneven[:_MAX_NAMED]:
            yield f"{field}: {noun} {shown(part)} predicts the label, expected equal counts for both labels"
        if len(uneven) > _MAX_NAMED:
            yield f"{field}: {len(uneven) - _MAX_NAMED} more {noun}s predict the label"


def _whole(text: str) -> list[str]:
    return [text]


def _unigrams(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _bigrams(text: str) -> list[str]:
    tokens = _unigrams(text)
    return [f"{first} {second}" for first, second in pairwise(tokens)]
