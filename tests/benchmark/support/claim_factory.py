"""Generated claims, as many as FEVER's training claims, with similarly rare words and cues for labels."""

from __future__ import annotations

import numpy as np

FEVER_TRAIN = 145_449
WORDS = 40_000


def made_claims(n, seed=0):
    """Return n texts of 4 to 14 words by Zipf's law, with recurring bigrams, and labels; a tenth of words are cues."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(WORDS)])
    labels = random.integers(0, 3, n)
    lengths = random.integers(4, 15, n)
    ranks = np.minimum(random.zipf(1.15, lengths.sum()) - 1, WORDS - 1)
    # Each word has a few likely successors, so bigrams recur, as in sentences.
    followed = random.random(len(ranks)) < 0.6
    ranks[1:] = np.where(followed[1:], (ranks[:-1] * 31 + ranks[1:] % 5) % WORDS, ranks[1:])
    cue = random.random(len(ranks)) < 0.1
    ranks = np.where(cue, 10 + 3 * (ranks % 200) + np.repeat(labels, lengths), ranks)
    ends = np.cumsum(lengths)
    texts = [" ".join(part) for part in np.split(words[ranks], ends[:-1])]
    return texts, [("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")[label] for label in labels]
