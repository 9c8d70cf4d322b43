"""What the lines of each task's gold say, field by field: what is asked, what is right, what belongs together.

Two values are one change only where a scorer, or a reader of the inputs, could tell them apart: facts, mentions and
evidence are sets, labels have no case, and annotators' numbers are no part of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Line = Mapping[str, Any]
Whole = dict[str, Any]
"""Field -> its one value; a field without one is left out."""
Members = dict[str, list[Any]]
"""Field -> its members, in any order; of a collection that counts repetitions a member stands as often."""


@dataclass(frozen=True)
class Told:
    """question: what participants see. answer and many: what is right, as values and as collections of members.
    system: what made the item, where measures take that apart."""

    question: Whole
    answer: Whole
    many: Members
    system: Whole


@dataclass(frozen=True)
class Layout:
    """identity: the key of an item's id. told: reads a line."""

    identity: str
    told: Callable[[Line], Told]


def _there(line: Line, *names: str) -> Whole:
    return {name: line[name] for name in names if name in line}


def _claim(line: Line) -> Told:
    told = Told(_there(line, "claim", "evidence_text"), {"label": line["label"].upper()}, {}, {})
    if "evidence" in line:
        # A set is met by its pages and lines alone, and twice the same set is one.
        sets = [sorted({(page, place) for *_, page, place in one}, key=repr) for one in line["evidence"]]
        told.answer["has evidence"] = True
        told.many["evidence"] = _once([[list(sentence) for sentence in one] for one in sets])
    return told


def _triple(line: Line) -> Told:
    return Told(_there(line, "subject", "relation", "object"), {"label": line["label"]}, {}, {})


def _question(line: Line) -> Told:
    many = {name: _once(line[name]) for name in ("answers", "filtered")}
    return Told(_there(line, "question"), {}, many, {})


def _text(line: Line) -> Told:
    return Told(_there(line, "text", "subject"), {}, {"facts": _once(line["facts"])}, {})


def _rated(line: Line) -> Told:
    asked = _there(line, "generated", "reference")
    return Told(asked, {"human": float(line["human"])}, {}, _there(line, "system"))


FACT = ("propertyId", "subjectStart", "subjectEnd", "objectStart", "objectEnd", "subjectUri", "objectUri")
PROPERTY = ("propertyId", "propertyName")
PASSAGE = ("passageId", "passageStart", "passageEnd", "passageText")


def _document(line: Line) -> Told:
    passages = line["passages"]
    asked = _there(line, "documentText", "fold")
    asked["passages"] = [_there(passage, *PASSAGE) for passage in passages]

    def inside(name: str, fields: tuple[str, ...]) -> list[Any]:
        return [{"passageId": one["passageId"], **_there(part, *fields)} for one in passages for part in one[name]]

    annotated = inside("exhaustivelyAnnotatedProperties", PROPERTY)
    # Of two equal facts each is to be found, so they are counted; a property is annotated or it is not.
    return Told(asked, {}, {"facts": inside("facts", FACT), "annotated": _once(annotated)}, {})


def _once(members: list[Any]) -> list[Any]:
    kept: dict[str, Any] = {}
    for member in members:
        kept.setdefault(repr(member), member)
    return list(kept.values())


LAYOUTS: dict[str, Layout] = {
    "knowledge-base-population": Layout("documentId", _document),
    "fact-verification": Layout("id", _claim),
    "fact-checking": Layout("id", _triple),
    "link-prediction": Layout("id", _question),
    "fact-extraction": Layout("id", _text),
    "metric-correlation": Layout("id", _rated),
}
