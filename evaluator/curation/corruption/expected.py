"""Expected scores of corrupted facts, known in advance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.curation.corruption.shuffle import Fact


@dataclass
class Expected:
    """Counts over corrupted texts, from which the expected scores follow.

    facts: the number of distinct facts of each text after the permutation, added up. right: the number of these that
    are in the gold of their text. verifiable: the number of these whose subject and relation occur together in the gold
    of their text.
    """

    facts: int = 0
    right: int = 0
    verifiable: int = 0

    def add(self, gold: Iterable[Fact], corrupted: Sequence[Fact]) -> None:
        """Count the facts of one text. gold: its facts before the permutation; corrupted: its facts after it."""
        gold_facts, distinct = set(gold), set(corrupted)
        known = {(subject, relation) for subject, relation, _ in gold_facts}
        self.facts += len(distinct)
        self.right += len(distinct & gold_facts)
        self.verifiable += sum((subject, relation) in known for subject, relation, _ in distinct)

    @property
    def accuracy(self) -> float | None:
        """Share of corrupted facts that are still in the gold: the precision of a perfect extractor. None: no facts."""
        return self.right / self.facts if self.facts else None

    @property
    def fact_acc(self) -> float | None:
        """Share of right facts among the verifiable ones: the measure fact_acc, micro-averaged.

        None: there are no verifiable facts.
        """
        return self.right / self.verifiable if self.verifiable else None
