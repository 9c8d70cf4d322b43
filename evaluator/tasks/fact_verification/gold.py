"""Parser of the gold and the public inputs of fact-verification."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import GoldError, InputsError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.id_table import IdTable
from evaluator.jsonl.ids import Groups, Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.jsonl.text_column import TextColumn
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, GOLD, INPUTS, Claim, GoldSentence, label_code


@dataclass(frozen=True)
class ValidationData:
    """The data that predictions are checked against.

    index_of: id -> index of the claim. needs_evidence: for each claim, True if its prediction needs
    `predicted_evidence`.
    """

    index_of: Mapping[Id, int]
    needs_evidence: npt.NDArray[np.bool_]


@dataclass
class Gold:
    """Parsed gold. The lists have one entry per claim, in the order of the file.

    ids: id -> index of the claim. labels: indices into LABELS. evidence: the claim's evidence sets, of which each is
    sufficient; None: the line has no key `evidence`.
    """

    ids: IdTable
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    claims: TextColumn = field(default_factory=TextColumn)
    labels: list[int] = field(default_factory=list)
    evidence: list[list[list[GoldSentence]] | None] = field(default_factory=list)
    evidence_texts: list[str | None] = field(default_factory=list)
    groups: Sequence[Id] = ()
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

    def extend(self, lines: Sequence[Claim], labels: Sequence[int]) -> None:
        """Add lines, but not their ids and groups. labels: indices into LABELS."""
        unset = msgspec.UNSET
        self.claims.extend(line.claim for line in lines)
        self.labels.extend(labels)
        self.evidence.extend(None if line.evidence is unset else line.evidence for line in lines)
        self.evidence_texts.extend(None if line.evidence_text is unset else line.evidence_text for line in lines)
        self.slices.extend(None if line.slices is unset else line.slices for line in lines)

    def validation_data(self) -> ValidationData:
        needed = np.fromiter((sets is not None for sets in self.evidence), dtype=np.bool_, count=len(self.evidence))
        return ValidationData(self.ids, needed)


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError for invalid gold.

    file: the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    groups = Groups(register.indices)
    for block in reader.blocks(stream):
        labels = [label_code(line.label) for line in block.records or ()]
        if block.records is not None and min(labels) >= 0 and register.add_all(block.records):
            gold.extend(block.records, labels)
            groups.extend(block.records)
            continue
        for number, line in block.lines():
            label = label_code(line.label)
            if label < 0:
                reader.problems.add(number, "unknown label", "another string", EXPECTED_LABEL)
            if register.add(line.id, number) and label >= 0:
                gold.extend([line], [label])
                groups.extend([line])
    reader.problems.raise_if_any()
    gold.groups = groups.sequence()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    return gold


def read_inputs(stream: BinaryIO, file: str, share: str, limits: ReadLimits | None) -> ValidationData:
    """Parse public inputs. Raises InputsError for invalid inputs.

    file: the file's name in messages. share: how many gold lines have evidence: `all`, `some` or `none`. Where there is
    no gold to read, predictions need evidence only if `share` is `all`. limits: limits on the file's size; None: the
    default ones.
    """
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems)
    register.add_blocks(reader.blocks(stream))
    reader.problems.raise_if_any()
    return ValidationData(register.indices, np.full(len(register.indices), share == "all"))
