"""Evaluation triples out of open triples (Broscheit et al. 2020, section 4): test, and validation in three flavours.

A triple can be asked about if its relation has at least three tokens, which leaves out much that is no sentence. Test
and LINKED need both ends linked to entities, so that any of their mentions counts as an answer. MENTION has the triples
of LINKED without the entities; ALL has triples whether linked or not, and no entities either. They tell what it costs
to select a model on validation data that are cheaper to get.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.curation.open_triples.triples import Block, Dictionary
from evaluator.errors import UsageError

TOKENS = 3
SIZE = 10_000

Places = NDArray[np.int64]
"""Lines of a file, ascending."""


class Eligible:
    """The triples that can be asked about, gathered while a file is read. A text that comes again counts once."""

    def __init__(self, tokens: int = TOKENS) -> None:
        """tokens: how many a relation needs at least."""
        self._tokens = tokens
        self._texts = bytearray()
        self._places = array("q")
        self._linked = bytearray()

    @property
    def needs(self) -> str:
        return f"{self._tokens} relation tokens"

    def add(self, block: Block, dictionary: Dictionary) -> None:
        """Some more of the file."""
        for place, row in zip(block.numbers, block.rows, strict=True):
            if len(row[1].split()) < self._tokens:
                continue
            # Of 30 million triples two share 8 bytes once in 40,000 files; then one of them cannot be drawn.
            self._texts += hashlib.blake2b("\t".join(row[:3]).encode(), digest_size=8).digest()
            self._places.append(place)
            self._linked.append(dictionary.links(row))

    def first(self, *, linked: bool, but: Places | None = None) -> Places:
        """The first line of each text, ascending. linked: count only lines with both ends linked. but: leave out the
        texts of these lines."""
        texts = np.frombuffer(bytes(self._texts), dtype=np.uint64)
        places = np.array(self._places, dtype=np.int64)
        kept = np.ones(len(texts), dtype=np.bool_)
        if linked:
            kept &= np.frombuffer(bytes(self._linked), dtype=np.bool_)
        if but is not None:
            kept &= ~np.isin(texts, texts[np.isin(places, but)])
        # np.unique gives the first of equal ones, and lines were added in their order.
        return np.sort(places[kept][np.unique(texts[kept], return_index=True)[1]])


class Drawn(NamedTuple):
    """Lines of the evaluation triples; no text is in two of them. MENTION is LINKED without the entities."""

    test: Places
    linked: Places
    all: Places


def draw(eligible: Eligible, size: int = SIZE, *, seed: int) -> Drawn:
    """`size` triples for each of test, LINKED and ALL, at random. Raises UsageError where there are too few."""
    if size < 1:
        raise UsageError(f"size is {size}, expected 1 at least")
    random = np.random.default_rng(seed)
    with_entities = eligible.first(linked=True)
    if len(with_entities) < 2 * size:
        raise UsageError(
            f"found {len(with_entities)} different triples of {eligible.needs} and both ends linked, expected at least "
            f"{2 * size}: {size} for test and {size} for validation"
        )
    drawn = random.choice(with_entities, 2 * size, replace=False)
    others = eligible.first(linked=False, but=drawn)
    if len(others) < size:
        raise UsageError(
            f"found {len(others)} more triples of {eligible.needs}, expected at least {size} for validation"
        )
    return Drawn(np.sort(drawn[:size]), np.sort(drawn[size:]), np.sort(random.choice(others, size, replace=False)))
