"""Line formats of fact-checking files (Huynh & Papotti 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine, count_gold_keys
from evaluator.jsonl.reader import Format
from evaluator.jsonl.strict_json import Schema


class GoldClaim(GoldLine, gc=False, kw_only=True):
    """A gold line: a triple and its label, which is True if the triple is true."""

    id: str | int
    subject: str
    relation: str
    object: str
    label: bool


class Claim(msgspec.Struct, gc=False):
    """A line of the public inputs: a triple whose truth systems score."""

    id: str | int
    subject: str
    relation: str
    object: str


GOLD = Format(
    GoldClaim,
    Schema(
        frozenset({"id", "subject", "relation", "object", "label", "group", "slices"}),
        {"slices": Schema(frozenset(), free=True)},
    ),
    lambda line: 5 + count_gold_keys(line),
)
INPUTS = Format(Claim, Schema(frozenset({"id", "subject", "relation", "object"})), lambda _: 4)
