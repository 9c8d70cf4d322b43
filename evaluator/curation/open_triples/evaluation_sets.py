"""Sampling of evaluation triples from open triples (Broscheit et al. 2020, section 4): test and three validation sets.

A triple is eligible if its relation has at least three tokens, which excludes much that is not a sentence. The
validation sets are LINKED, MENTION and ALL. In test and LINKED, subject and object are linked to entities, so that any
mention of the entity counts as an answer. MENTION has the triples of LINKED without their entities; ALL has triples
that may or may not be linked, without entities. MENTION and ALL show the cost of selecting a model on cheaper
validation data.
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

LineNumbers = NDArray[np.int64]
"""Line numbers, ascending."""


class Eligible:
    """Eligible triples, collected while a file is read. Triples with the same subject, relation and object texts count
    once.

    A triple is eligible if its relation has enough tokens.
    """

    def __init__(self, tokens: int = TOKENS) -> None:
        """Start without triples. tokens: the minimum number of tokens of an eligible triple's relation."""
        self._tokens = tokens
        self._texts = bytearray()
        self._line_numbers = array("q")
        self._linked = bytearray()

    @property
    def needs(self) -> str:
        """The condition for a triple to be eligible, in words."""
        return f"{self._tokens} or more relation tokens"

    def add(self, block: Block, dictionary: Dictionary) -> None:
        """Add the eligible triples of a block of the file. dictionary: links mentions to entities."""
        for line_number, row in zip(block.numbers, block.rows, strict=True):
            if len(row[1].split()) < self._tokens:
                continue
            # In one of 40,000 files of 30 million triples, two have equal digests; then one of them cannot be sampled.
            self._texts += hashlib.blake2b("\t".join(row[:3]).encode(), digest_size=8).digest()
            self._line_numbers.append(line_number)
            self._linked.append(dictionary.links(row))

    def first(self, *, linked: bool, but: LineNumbers | None = None) -> LineNumbers:
        """Return the line number of the first occurrence of each different eligible triple, ascending.

        linked: True for only the triples whose subject and object are linked to entities. but: the line numbers of
        triples to exclude, with all repetitions; None: none are excluded.
        """
        texts = np.frombuffer(bytes(self._texts), dtype=np.uint64)
        line_numbers = np.array(self._line_numbers, dtype=np.int64)
        mask = np.ones(len(texts), dtype=np.bool_)
        if linked:
            mask &= np.frombuffer(bytes(self._linked), dtype=np.bool_)
        if but is not None:
            mask &= ~np.isin(texts, texts[np.isin(line_numbers, but)])
        # np.unique returns the first of equal texts, and lines were added in order.
        return np.sort(line_numbers[mask][np.unique(texts[mask], return_index=True)[1]])


class EvaluationSample(NamedTuple):
    """Line numbers of the triples sampled for the test set and for the validation sets LINKED and ALL.

    No triple is in two of them. The third validation set, MENTION, has the triples of LINKED without their entities.
    """

    test: LineNumbers
    linked: LineNumbers
    all: LineNumbers


def sample_triples(eligible: Eligible, size: int = SIZE, *, seed: int) -> EvaluationSample:
    """Sample `size` triples for each of three sets. Raises UsageError if too few are eligible, or for a size below 1.

    The sets are the test set and the validation set LINKED, whose subjects and objects are linked to entities, and the
    validation set ALL, whose triples need no links.
    """
    if size < 1:
        raise UsageError(f"size is {size}, expected at least 1")
    random = np.random.default_rng(seed)
    with_entities = eligible.first(linked=True)
    if len(with_entities) < 2 * size:
        raise UsageError(
            f"found {len(with_entities)} different triples with {eligible.needs} and with subject and object linked to "
            f"entities, expected at least {2 * size}: {size} for test and {size} for validation"
        )
    sample = random.choice(with_entities, 2 * size, replace=False)
    others = eligible.first(linked=False, but=sample)
    if len(others) < size:
        raise UsageError(
            f"found {len(others)} further triples with {eligible.needs}, expected at least {size} for validation"
        )
    return EvaluationSample(
        np.sort(sample[:size]), np.sort(sample[size:]), np.sort(random.choice(others, size, replace=False))
    )
