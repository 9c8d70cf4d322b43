"""Reader for labelled texts of any task: id, text and label per line, with configurable keys of text and label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import GoldError, UsageError
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
    """Read claims from JSON Lines. file: the name for messages. text, label: the keys of text and label.

    Texts and labels are strings; other keys are ignored. Raises GoldError for invalid lines, and UsageError if the keys
    are not two keys other than id.
    """
    if len({"id", text, label}) < 3:
        raise UsageError(
            f"the keys of text and label are {text} and {label}, expected two different keys other than id"
        )
    reader = Reader(file, _layout(text, label), GoldError, limits)
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
