"""Line formats of fact-verification files (Thorne et al. 2018; Schuster et al. 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine, count_gold_keys
from evaluator.jsonl.reader import Format
from evaluator.jsonl.strict_json import Schema

SUPPORTS, REFUTES, NOT_ENOUGH_INFO = LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
EXPECTED_LABEL = "SUPPORTS, REFUTES or NOT ENOUGH INFO"

GoldSentence = tuple[int | str | None, int | str | None, str | None, int | None]


class Claim(GoldLine, gc=False, kw_only=True):
    """A gold line: a claim with its label and evidence.

    verifiable: a key of FEVER's published files, which is ignored, since it follows from the label.
    """

    id: str | int
    claim: str
    label: str
    evidence: list[list[GoldSentence]] | msgspec.UnsetType = msgspec.UNSET
    evidence_text: str | msgspec.UnsetType = msgspec.UNSET
    verifiable: str | msgspec.UnsetType = msgspec.UNSET


class Question(msgspec.Struct, gc=False):
    """A line of the public inputs: a claim to label, and the evidence sentence if it is given."""

    id: str | int
    claim: str
    evidence_text: str | msgspec.UnsetType = msgspec.UNSET


class Answer(msgspec.Struct, gc=False):
    """A line of predictions: a claim's label, and (page, line) pairs as evidence."""

    id: str | int
    predicted_label: str
    predicted_evidence: list[tuple[str, int]] | msgspec.UnsetType = msgspec.UNSET


def _claim_keys(line: Claim) -> int:
    optional = (line.evidence, line.evidence_text, line.verifiable)
    return 3 + sum(value is not msgspec.UNSET for value in optional) + count_gold_keys(line)


GOLD = Format(
    Claim,
    Schema(
        frozenset({"id", "claim", "label", "evidence", "evidence_text", "verifiable", "group", "slices"}),
        {"slices": Schema(frozenset(), free=True)},
    ),
    _claim_keys,
)
INPUTS = Format(
    Question,
    Schema(frozenset({"id", "claim", "evidence_text"})),
    lambda line: 2 + (line.evidence_text is not msgspec.UNSET),
)
PREDICTIONS = Format(
    Answer,
    Schema(frozenset({"id", "predicted_label", "predicted_evidence"})),
    lambda line: 2 + (line.predicted_evidence is not msgspec.UNSET),
)


def label_code(text: str) -> int:
    """Return the index of the text in LABELS, or -1 if it is not a label. The case of ASCII letters is ignored."""
    code = _CODES.get(text)
    if code is None:
        return _CODES.get(text.upper(), -1) if text.isascii() else -1
    return code


_CODES = {label: code for code, label in enumerate(LABELS)}
