"""Parsed predictions of fact-verification: one answer for every claim."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from evaluator.errors import shown
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, Answer, label_code
from evaluator.tasks.items.files import Fault, ItemAnswers, KnownItems
from evaluator.tasks.spelling import FEVER_PAGES, Spellings

_NO_EVIDENCE = "predicted_evidence is missing", "no such key", "a list of [page, line], which may be empty"


class Answers(ItemAnswers):
    """Parsed predictions, one entry per claim in gold order.

    labels: indices into LABELS; -1: no answer. evidence: the predicted (page, line) pairs, best first.
    """

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        n_claims = len(known.index_of)
        self.labels = np.full(n_claims, -1, dtype=np.int8)
        self.evidence: list[list[tuple[str, int]]] = [[]] * n_claims
        self._pages = Spellings(file, "names of pages", FEVER_PAGES)
        # Public inputs do not tell which claims have evidence, unless all have.
        needs = np.full(n_claims, known.facts.get("evidence") == "all")
        self._needs_evidence = (needs if known.gold is None else known.gold.needs_evidence).tolist()

    def problems(self, line: Answer, index: int | None) -> Iterable[Fault]:
        problems = []
        if label_code(line.predicted_label) < 0:
            problems.append(("unknown predicted_label", shown(line.predicted_label), EXPECTED_LABEL))
        if index is not None and line.predicted_evidence is msgspec.UNSET and self._needs_evidence[index]:
            problems.append(_NO_EVIDENCE)
        return problems

    def add(self, lines: Sequence[Answer], indices: Any, first: int) -> None:
        self.labels[indices] = [label_code(line.predicted_label) for line in lines]
        for number, line in enumerate(lines, first):
            if line.predicted_evidence is not msgspec.UNSET and line.predicted_evidence:
                self.evidence[indices[number - first]] = line.predicted_evidence
                self._pages.add(line.predicted_evidence[0][0], number)

    def finish(self) -> list[str]:
        return self._pages.hints()
