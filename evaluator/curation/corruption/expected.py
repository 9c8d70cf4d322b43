"""What a scorer should say of the corrupted facts: known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.curation.corruption.shuffle import Fact


@dataclass
class Expected:
    """Counted over texts. facts: different ones after the exchange; right: those that gold has; verifiable: those whose
    subject and relation gold has."""

    facts: int = 0
    right: int = 0
    verifiable: int = 0

    def add(self, gold: Iterable[Fact], corrupted: Sequence[Fact]) -> None:
        """One text."""
        true, left = set(gold), set(corrupted)
        known = {(subject, relation) for subject, relation, _ in true}
        self.facts += len(left)
        self.right += len(left & true)
        self.verifiable += sum((subject, relation) in known for subject, relation, _ in left)

    @property
    def accuracy(self) -> float | None:
        """The share of facts left right: the precision of whoever reads the corrupted texts without a mistake."""
        return self.right / self.facts if self.facts else None

    @property
    def fact_acc(self) -> float | None:
        """The same among facts that gold can judge: `fact_acc`, micro."""
        return self.right / self.verifiable if self.verifiable else None
