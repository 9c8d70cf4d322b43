"""Parsed predictions of fact-extraction: a list of facts per text."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import shown
from evaluator.tasks.fact_extraction.gold import Facts
from evaluator.tasks.fact_extraction.layout import Fact, PredictedFacts
from evaluator.tasks.items.files import ItemAnswers, KnownItems
from evaluator.tasks.spelling import NAMES, Spellings, fold, traits_of

OTHER = -1
"""The code of every relation that no gold fact has."""


Tally = tuple[int, int, int, int]
"""The code of a relation, then three counts of a text's distinct predicted facts with it: all, found, verifiable.

A fact is found if it is a gold fact of the text. It is verifiable if a gold fact of the text has its subject and
relation, so that gold can judge it.
"""


class Answers(ItemAnswers):
    """Parsed predictions: counts of predicted facts. The facts themselves are not stored."""

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        subjects = [None if subject is msgspec.UNSET else subject for subject in known.shown]
        self._spellings = _FactSpellings(file, subjects)
        self._numbers = array("q")
        self._gold = known.gold

    @property
    def tallies(self) -> npt.NDArray[np.int64]:
        """An array with a row for each pair of a text and a relation that was predicted for it.

        The five columns are the index of the text, the code of the relation, and the numbers of predicted, found and
        verifiable facts (`Tally`).
        """
        return np.array(self._numbers, dtype=np.int64).reshape(-1, 5)

    def add(self, lines: Sequence[PredictedFacts], indices: Any, first: int) -> None:
        for number, (line, index) in enumerate(zip(lines, indices.tolist(), strict=True), first):
            if not self._spellings.is_full:
                self._spellings.add(line.facts, index, number)
            if self._gold is not None:
                for counts in tally(line.facts, self._gold.facts[index], self._gold.relations):
                    self._numbers.append(index)
                    self._numbers.extend(counts)

    def finish(self) -> list[str]:
        return self._spellings.hints()


class AllFacts(ItemAnswers):
    """The predicted facts, to compare two files. facts: each as (index of the text, subject, relation, object)."""

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        self.facts: list[tuple[int, str, str, str]] = []

    def add(self, lines: Sequence[PredictedFacts], indices: Any, first: int) -> None:
        for line, index in zip(lines, indices.tolist(), strict=True):
            self.facts += [(index, *fact) for fact in line.facts]


def tally(predicted: Iterable[Fact], gold: Facts, relations: Mapping[str, int]) -> list[Tally]:
    """Return the counts (`Tally`) of one text's predicted facts, one for each predicted relation, by ascending code.

    gold: the gold facts of the text. relations: relation -> code for each relation in the gold; all other relations
    together have one tally, with the code OTHER.
    """
    pairs = {fact[:2] for fact in gold}
    counts: dict[int, list[int]] = {}
    for fact in set(predicted):
        count = counts.setdefault(relations.get(fact[1], OTHER), [0, 0, 0])
        count[0] += 1
        if fact[:2] in pairs:
            count[1] += fact in gold
            count[2] += 1
    return [(code, n, found, verifiable) for code, (n, found, verifiable) in sorted(counts.items())]


class _FactSpellings:
    """Names in the first predicted facts, compared with the subjects of the inputs."""

    def __init__(self, file: str, subjects: Sequence[str | None]) -> None:
        self._file = file
        self._subjects = subjects
        usual = traits_of(subject for subject in subjects if subject is not None)
        self._names = Spellings(file, "subjects and objects", NAMES, usual)
        self._other = 0
        self._example = ""

    @property
    def is_full(self) -> bool:
        return self._names.is_full

    def add(self, facts: Sequence[Fact], text: int, line: int) -> None:
        """Add the facts of a text. text: its index. line: the number of the line in the predictions."""
        subject = self._subjects[text]
        for predicted, _, obj in facts:
            self._names.add(predicted, line)
            self._names.add(obj, line)
            if subject is not None and predicted != subject and fold(predicted) == fold(subject):
                self._other += 1
                self._example = self._example or f"{shown(predicted)} (line {line}) and {shown(subject)}"

    def hints(self) -> list[str]:
        """Return one sentence for each way in which names seem to be spelled otherwise than in gold."""
        hints = self._names.hints()
        if self._other:
            hints.append(
                f"{self._file}: subjects of {self._other} facts are spelled otherwise than in the inputs, such as "
                f"{self._example}; they are compared character by character"
            )
        return hints
