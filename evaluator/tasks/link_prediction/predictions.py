"""Parsed predictions of link-prediction: a ranking of mentions per question."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evaluator.tasks.answers import digest
from evaluator.tasks.items.files import Fault, ItemAnswers, KnownItems
from evaluator.tasks.link_prediction.gold import Mentions
from evaluator.tasks.link_prediction.layout import MAX_RANKED, QUERY_MARKER, Ranking
from evaluator.tasks.spelling import NAMES, Spellings, traits_of


class Answers(ItemAnswers):
    """Parsed predictions: the rank of the answer in each ranking, in gold order. The rankings are not stored.

    ranks: an array with two columns. The first is the rank of the first gold answer among the ranking's distinct
    mentions, from 1; 0: the ranking has no answer. The second is the number of distinct mentions before this rank that
    are other known answers.
    """

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        self.ranks = np.zeros((len(known.index_of), 2), dtype=np.int64)
        mentions = (mention for first, _, last in known.shown for mention in (first, last) if mention != QUERY_MARKER)
        self._spellings = Spellings(file, "first mentions", NAMES, traits_of(mentions))
        self._gold: Sequence[tuple[Mentions, Mentions]] | None = None if known.gold is None else known.gold.mentions

    def problems(self, line: Ranking, index: int | None) -> Iterable[Fault]:
        if len(line.ranking) <= MAX_RANKED:
            return ()
        return (("ranking is too long", f"{len(line.ranking)} mentions", f"at most {MAX_RANKED} mentions"),)

    def add(self, lines: Sequence[Ranking], indices: Any, first: int) -> None:
        for number, line in enumerate(lines, first):
            if self._spellings.is_full:
                break
            if line.ranking:
                self._spellings.add(line.ranking[0], number)
        if self._gold is not None:
            gold = map(self._gold.__getitem__, indices.tolist())
            self.ranks[indices] = [locate(line.ranking, *both) for line, both in zip(lines, gold, strict=True)]

    def finish(self) -> list[str]:
        return self._spellings.hints()


class FirstMentions(ItemAnswers):
    """The first mention of each ranking, to compare two files. answers: its digest; errs: True unless gold has it."""

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        self.answers = np.zeros(len(known.index_of), dtype=np.uint64)
        self.errs = np.ones(len(known.index_of), dtype=np.bool_)
        self._gold: Sequence[tuple[Mentions, Mentions]] = known.gold.mentions

    def add(self, lines: Sequence[Ranking], indices: Any, first: int) -> None:
        for line, index in zip(lines, indices.tolist(), strict=True):
            if line.ranking:
                self.answers[index] = digest(line.ranking[0])
                self.errs[index] = line.ranking[0] not in self._gold[index][0]


def locate(ranking: Sequence[str], answers: Mentions, filtered: Mentions) -> tuple[int, int]:
    """Return (rank of the first answer, number of mentions before it that are other known answers) for one ranking.

    answers, filtered: the gold's answers and other known answers. A mention in both counts as an answer. The rank
    counts distinct mentions from 1; it is 0 if the ranking has no answer.
    """
    answer_set = frozenset(answers)
    if answer_set.isdisjoint(ranking):
        return 0, 0
    end = next(index for index, mention in enumerate(ranking) if mention in answer_set)
    before = set(ranking[:end])
    return len(before) + 1, len(before.intersection(filtered))
