"""Parser of the gold and the public inputs of fact-verification."""

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import GoldError, InputsError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, GOLD, INPUTS, GoldSentence, label_code


@dataclass(frozen=True)
class ValidationData:
    """The data that predictions are checked against.

    index_of: id -> index of the claim. needs_evidence: for each claim, True if its prediction needs
    `predicted_evidence`.
    """

    index_of: dict[Id, int]
    needs_evidence: npt.NDArray[np.bool_]


@dataclass
class Gold:
    """Parsed gold. The lists have one entry per claim, in the order of the file.

    ids: id -> index of the claim. labels: indices into LABELS. evidence: the claim's evidence sets, of which each is
    sufficient; None: the line has no key `evidence`.
    """

    ids: dict[Id, int]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    evidence: list[list[list[GoldSentence]] | None] = field(default_factory=list)
    evidence_texts: list[str | None] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)

    @property
    def has_evidence(self) -> bool:
        return any(sets is not None for sets in self.evidence)

    @property
    def declares_origin(self) -> bool:
        return any(slices and "origin" in slices for slices in self.slices)

    def facts(self) -> dict[str, Any]:
        with_evidence = sum(sets is not None for sets in self.evidence)
        share = "none" if not with_evidence else "all" if with_evidence == len(self.evidence) else "some"
        return {"evidence": share, "origin": self.declares_origin}

    def validation_data(self) -> ValidationData:
        needed = np.fromiter((sets is not None for sets in self.evidence), dtype=np.bool_, count=len(self.evidence))
        return ValidationData(self.ids, needed)


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError."""
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    unset = msgspec.UNSET
    for number, line in reader.records(stream):
        label = label_code(line.label)
        if label < 0:
            reader.problems.add(number, "unknown label", "another string", EXPECTED_LABEL)
        if not register.add(line.id, number) or label < 0:
            continue
        gold.claims.append(line.claim)
        gold.labels.append(label)
        gold.evidence.append(None if line.evidence is unset else line.evidence)
        gold.evidence_texts.append(None if line.evidence_text is unset else line.evidence_text)
        gold.groups.append(line.id if line.group is unset else line.group)
        gold.slices.append(None if line.slices is unset else line.slices)
    reader.problems.raise_if_any()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    return gold


def read_inputs(stream: BinaryIO, file: str, share: str, limits: ReadLimits | None) -> ValidationData:
    """Parse public inputs. Raises InputsError.

    share: which gold lines have evidence: `all`, `some` or `none`. Without gold, predictions need evidence only for
    `all`.
    """
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems)
    for number, line in reader.records(stream):
        register.add(line.id, number)
    reader.problems.raise_if_any()
    return ValidationData(register.indices, np.full(len(register.indices), share == "all"))
