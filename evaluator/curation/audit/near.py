"""Near duplicates: pairs of texts whose word bigrams overlap. No pair is missed and none is guessed.

A text is the set of its bigrams of lower-cased words, with a mark before the first word and one after the last. Two
sets of Jaccard similarity t or more share one of their rarest bigrams (of n, the n - ceil(t n) + 1 rarest), so only
texts which meet there are compared (Chaudhuri et al. 2006; Bayardo et al. 2007); their similarity is counted out.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.curation.vocabulary import tokens
from evaluator.errors import UsageError
from evaluator.steps import Steps

THRESHOLD = 0.7
MOST_PAIRS = 1_000_000
"""Texts made from few templates may all be alike; nobody reads further."""

_EDGE = ""
_EXACT = 1e-9
Grams = npt.NDArray[np.int64]


class Pair(NamedTuple):
    """Places of two texts, and the similarity of their bigrams."""

    first: int
    second: int
    jaccard: float


@dataclass
class Pairs:
    """whole: all of them are here; else looking ended at the most that anybody reads."""

    found: list[Pair] = field(default_factory=list)
    whole: bool = True


def bigrams(text: str) -> frozenset[tuple[str, str]]:
    words = [_EDGE, *tokens(text), _EDGE]
    return frozenset(itertools.pairwise(words)) if len(words) > 2 else frozenset()


def near_pairs(
    texts: Sequence[str], others: Sequence[str] | None = None, *, threshold: float = THRESHOLD, most: int = MOST_PAIRS
) -> Pairs:
    """Pairs (first < second) within `texts`; or, with `others`, pairs of a text and one of the others. Texts without
    words are like none. threshold: above 0, at most 1. Raises UsageError."""
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold is {threshold:g}, expected a number above 0, at most 1")
    sets = _numbered([*texts, *(others or ())])
    pairs = Pairs()
    for pair in _similar(sets, len(texts) if others is not None else None, threshold):
        if len(pairs.found) >= most:
            pairs.whole = False
            break
        pairs.found.append(pair)
    pairs.found.sort()
    return pairs


def _numbered(texts: Sequence[str]) -> list[list[int]]:
    """Each text's bigrams as numbers, ascending: the rarest have the lowest."""
    sets = [bigrams(text) for text in texts]
    counts = Counter(gram for grams in sets for gram in grams)
    number = {
        gram: place for place, (gram, _) in enumerate(sorted(counts.items(), key=lambda item: (item[1], item[0])))
    }
    return [sorted([number[gram] for gram in grams]) for grams in sets]


def _similar(sets: list[list[int]], border: int | None, threshold: float) -> Iterator[Pair]:
    """border: texts from there on are compared with those before it alone; None: each with each."""
    held = [frozenset(grams) for grams in sets]
    under: dict[int, list[int]] = defaultdict(list)  # rarest bigrams: the texts seen that have them, shorter ones first
    steps = Steps(len(sets))
    for place in sorted(range(len(sets)), key=lambda place: (len(sets[place]), place)):
        steps.add(1)
        grams, size = sets[place], len(sets[place])
        if not size:
            continue
        shortest = math.ceil(threshold * size - _EXACT)
        rarest = grams[: size - shortest + 1]
        met = {other for gram in rarest for other in under[gram] if len(sets[other]) >= shortest}
        for other in met:
            if border is not None and (other < border) == (place < border):
                continue
            common = len(held[place] & held[other])
            jaccard = common / (size + len(sets[other]) - common)
            if jaccard >= threshold - _EXACT:
                first, second = min(place, other), max(place, other)
                yield Pair(first, second - (border or 0), jaccard)
        for gram in rarest:
            under[gram].append(place)
