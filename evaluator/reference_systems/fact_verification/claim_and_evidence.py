"""`claim-and-evidence`: logistic regression on features that compare the claim with its evidence sentence.

No feature depends on the claim alone or on the sentence alone, since such a feature carries no information in a
symmetric set.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from evaluator.errors import UsageError
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System
from evaluator.reference_systems.fact_verification.examples import (
    LABELS_OPTION,
    TASK,
    Pair,
    prediction,
    read_examples,
    read_questions,
    strength_option,
)

NEGATIONS = {"cannot", "failed", "incapable", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing"}
NEGATIONS |= {"only", "refused", "t", "unable", "without", "yet"}
"""Words that often make a claim negative. `t` is the end of don't."""
_WORD = re.compile(r"\w+")
_ENOUGH = 5
"""The number of missing words from which `missing words` is 1."""
_MIN_PAIRS = 2
"""Features of fewer pairs are dropped."""


class Features:
    """Features of pairs of a claim and its evidence sentence, each a number from 0 to 1.

    A word's weight is its inverse document frequency.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        """Compute the weight of each word from the number of claims and sentences of `pairs` that contain it."""
        self._n = 2 * len(pairs)
        texts = (text for pair in pairs for text in (pair.claim, pair.evidence))
        self._counts = Counter(word for text in texts for word in {*_words(text)})

    def of(self, pair: Pair) -> dict[str, float]:
        """Return feature name -> value of a claim and its evidence sentence, without features whose value is 0."""
        claim, evidence = _words(pair.claim), _words(pair.evidence)
        in_claim, in_evidence = {*claim}, {*evidence}
        missing, new = in_claim - in_evidence, in_evidence - in_claim
        bigrams = {*pairwise(claim)}
        numbers, other_numbers = _numbers(missing), _numbers(new)
        names = _names(pair.claim) - in_evidence
        negative, other_negative = bool(in_claim & NEGATIONS), bool(in_evidence & NEGATIONS)
        values = {
            "shared words": _share(len(in_claim) - len(missing), len(in_claim)),
            "shared weight": 1 - _share(self._weight(missing), self._weight(in_claim)),
            "shared bigrams": _share(len(bigrams & {*pairwise(evidence)}), len(bigrams)),
            "missing words": min(len(missing) / _ENOUGH, 1),
            "all words": not missing,
            "missing number": bool(numbers),
            "other number": bool(numbers and other_numbers),
            "missing name": bool(names),
            "other name": bool(names and _names(pair.evidence) - in_claim),
            "both negative": negative and other_negative,
            "only claim negative": negative and not other_negative,
            "only evidence negative": other_negative and not negative,
            **{f"only in claim: {word}": 1 for word in missing},
            **{f"only in evidence: {word}": 1 for word in new},
        }
        return {name: float(value) for name, value in values.items() if value}

    def _weight(self, words: set[str]) -> float:
        return math.fsum(math.log((1 + self._n) / (1 + self._counts[word])) for word in words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(character.isdigit() for character in word)}


def _names(text: str) -> set[str]:
    """Return the capitalized words of a text except its first word, in lower case."""
    return {word.lower() for word in _WORD.findall(text)[1:] if word[0].isupper()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _predict(job: Job) -> Iterator[Line]:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    steps = Steps(2)
    examples = read_examples(job, with_evidence=True)
    ids, pairs = read_questions(job, with_evidence=True)
    steps.add(1)
    features = Features(examples.pairs)
    n_pairs = Counter(name for pair in examples.pairs for name in features.of(pair))
    common = [{name: 1.0} for name, n in n_pairs.items() if n >= _MIN_PAIRS]
    if not common:
        raise UsageError("no two claims of --train have a common feature, expected more claims")
    vectorizer = DictVectorizer().fit(common)
    model = LogisticRegression(C=1 / job.options["strength"], max_iter=1000)
    model.fit(vectorizer.transform(map(features.of, examples.pairs)), examples.labels)
    steps.add(1)
    if pairs:
        labels = model.predict(vectorizer.transform(map(features.of, pairs)))
        for identifier, label in zip(ids, labels, strict=True):
            yield prediction(identifier, label)


CLAIM_AND_EVIDENCE = System(
    "claim-and-evidence",
    (TASK,),
    "overlap and differences of claim and sentence, logistic regression",
    "compare Riedel et al. 2017",
    _predict,
    needs=("train",),
    options=(strength_option(10), LABELS_OPTION),
)
