"""Line formats of fact-verification files (Thorne et al. 2018; Schuster et al. 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine
from evaluator.tasks.items.files import format_of

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


GOLD, INPUTS, PREDICTIONS = format_of(Claim), format_of(Question), format_of(Answer)


def label_code(text: str) -> int:
    """Return the index of the text in LABELS, or -1 if it is not a label. The case of ASCII letters is ignored."""
    code = _CODES.get(text)
    if code is None:
        return _CODES.get(text.upper(), -1) if text.isascii() else -1
    return code


_CODES = {label: code for code, label in enumerate(LABELS)}
