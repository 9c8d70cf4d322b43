"""`rouge-1`, `rouge-2` and `rouge-l`: word overlap of a text with its reference (Lin 2004).

The scores equal those of the package rouge-score without stemming, as a test checks. Words are runs of ASCII letters
and digits. `rouge-l` counts the words of the longest common subsequence of the two whole texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from evaluator.errors import InputsError
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.tasks.base import Option
from evaluator.tasks.metric_correlation.layout import INPUTS as TEXTS

_WORD = re.compile(r"[a-z0-9]+")


class Overlap(NamedTuple):
    """Numbers of units (n-grams or words): in both texts, in the generated text, in its reference."""

    common: int
    generated: int
    reference: int

    @property
    def precision(self) -> float:
        return self.common / self.generated if self.generated else 0.0

    @property
    def recall(self) -> float:
        return self.common / self.reference if self.reference else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.common / (self.generated + self.reference) if self.common else 0.0


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def ngram_overlap(generated: Sequence[str], reference: Sequence[str], n: int) -> Overlap:
    """Return the overlap of two texts in n-grams.

    An n-gram that occurs several times counts as often as in the text that has it less often. generated, reference: the
    words of each text.
    """
    ours, theirs = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (generated, reference))
    return Overlap((ours & theirs).total(), ours.total(), theirs.total())


def longest_common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by the bit-parallel algorithm of Hyyrö 2004."""
    positions: dict[str, int] = {}
    for index, word in enumerate(b):
        positions[word] = positions.get(word, 0) | 1 << index
    all_bits = (1 << len(b)) - 1
    row = all_bits
    for word in a:
        matches = row & positions.get(word, 0)
        row = (row + matches | row - matches) & all_bits
    return len(b) - row.bit_count()


def subsequence_overlap(generated: Sequence[str], reference: Sequence[str]) -> Overlap:
    return Overlap(longest_common_subsequence(generated, reference), len(generated), len(reference))


def _predict(overlap: Callable[[Sequence[str], Sequence[str]], Overlap], job: Job) -> Iterator[Line]:
    texts: list[tuple[Id, str, str]] = []
    for path in job.paths(INPUTS):
        reader = Reader(str(path), TEXTS, InputsError)
        register = IdRegister(reader.problems)
        with opened(path) as stream:
            for number, line in reader.records(stream):
                for key in ("generated", "reference"):
                    if getattr(line, key) is msgspec.UNSET:
                        reader.problems.add(number, f"{key} is missing", "no such key", "a text")
                if register.add(line.id, number):
                    texts.append((line.id, line.generated or "", line.reference or ""))
        reader.problems.raise_if_any()
    steps = Steps(len(texts))
    for identifier, generated, reference in texts:
        score = getattr(overlap(words(generated), words(reference)), job.options["score"])
        yield {"id": identifier, "score": score}
        steps.add(1)


def _score(text: str) -> str:
    if text not in ("f1", "precision", "recall"):
        raise ValueError("f1, precision or recall")
    return text


def _system(name: str, unit: str, overlap: Callable[[Sequence[str], Sequence[str]], Overlap]) -> System:
    return System(
        name,
        ("metric-correlation",),
        f"{unit} of the text and its reference",
        "Lin 2004",
        partial(_predict, overlap),
        options=(Option("score", "f1, precision or recall.", "f1", _score),),
    )


SYSTEMS = (
    _system("rouge-1", "common words", partial(ngram_overlap, n=1)),
    _system("rouge-2", "common bigrams", partial(ngram_overlap, n=2)),
    _system("rouge-l", "longest common subsequence of words", subsequence_overlap),
)
