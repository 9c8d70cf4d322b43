"""Readers for labelled texts of any task (id, text and label, with configurable keys) and for their weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import GoldError, UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema


@dataclass
class Claims:
    """Ids, texts and labels in the order of the file."""

    ids: list[Id] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def read_claims(
    stream: BinaryIO, file: str, *, text: str = "claim", label: str = "label", limits: ReadLimits | None = None
) -> Claims:
    """Read claims from JSON Lines.

    file: the file's name, for error messages. text, label: the keys of text and label. limits: None: the default
    limits. Texts and labels are strings; other keys are ignored. Raises GoldError for invalid lines, and UsageError
    unless text and label are two different keys other than id, which JSON writes without escapes.
    """
    if len({"id", text, label}) < 3:
        raise UsageError(
            f"the keys of text and label are {text} and {label}, expected two different keys other than id"
        )
    try:
        layout = _layout(text, label)
    except ValueError:
        raise UsageError(
            f"the keys of text and label are {shown(text)} and {shown(label)}, expected keys without quotation marks, "
            "backslashes and control characters"
        ) from None
    reader = Reader(file, layout, GoldError, limits)
    register = IdRegister(reader.problems)
    claims = Claims()
    for number, line in reader.records(stream):
        record: Any = line
        if register.add(record.id, number):
            claims.ids.append(record.id)
            claims.texts.append(record.text)
            claims.labels.append(record.label)
    reader.problems.raise_if_any()
    return claims


def _layout(text: str, label: str) -> Format[msgspec.Struct]:
    record = msgspec.defstruct(
        "LabelledText",
        [("id", str | int), ("text", str), ("label", str)],
        rename={"text": text, "label": label},
        gc=False,
    )
    return Format(record, Schema(frozenset({"id", text, label})), lambda _: 3)


class _Weight(msgspec.Struct, gc=False):
    id: str | int
    weight: float


_WEIGHT = Format(_Weight, Schema(frozenset({"id", "weight"})), lambda _: 2)


def read_weights(stream: BinaryIO, file: str, ids: Sequence[Id]) -> list[float]:
    """Read the weights of claims, as `split reweight` writes them, and return them in the order of `ids`.

    ids: the ids of the claims. Raises GoldError unless every id has one finite weight, 0 or more, and for an unknown
    id.
    """
    reader = Reader(file, _WEIGHT, GoldError)
    register = IdRegister(reader.problems)
    known, weights = set(ids), dict[Id, float]()
    for number, line in reader.records(stream):
        if not (math.isfinite(line.weight) and line.weight >= 0):
            reader.problems.add(number, "weight is not valid", shown(line.weight), "a finite number, 0 or more")
        elif line.id not in known:
            reader.problems.add(number, "unknown id", shown(line.id), "the id of a claim")
        elif register.add(line.id, number):
            weights[line.id] = line.weight
    reader.problems.raise_if_any()
    if missing := [name for name in ids if name not in weights]:
        reader.problems.stop(
            None, "claims without a weight", f"{len(missing)}, first {shown(missing[0])}", "a weight for every claim"
        )
    return [weights[name] for name in ids]
