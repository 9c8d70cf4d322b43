"""`claim-only`: TF-IDF of the claim's words and bigrams, and logistic regression; it ignores the evidence.

In a symmetric set with two labels, each claim occurs once with each label. This system gives equal claims equal labels,
so its accuracy there is exactly .5 if it predicts only these two labels. Training with the claim weights that `split
reweight` writes reduces what it learns from cues (Schuster et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.errors import UsageError
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System
from evaluator.reference_systems.fact_verification.examples import (
    LABELS_OPTION,
    TASK,
    prediction,
    read_examples,
    read_questions,
    strength_option,
)


def _predict(job: Job) -> Iterator[Line]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    steps = Steps(2)
    examples = read_examples(job, with_evidence=False)
    ids, pairs = read_questions(job, with_evidence=False)
    steps.add(1)
    words = r"\w+"
    tfidf = TfidfVectorizer(token_pattern=words, ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    try:
        rows = tfidf.fit_transform([pair.claim for pair in examples.pairs])
    except ValueError:
        raise UsageError("no word is in two claims of --train, expected more claims") from None
    model = LogisticRegression(C=1 / job.options["strength"], max_iter=1000)
    model.fit(rows, examples.labels, sample_weight=examples.weights)
    steps.add(1)
    for identifier, label in zip(ids, model.predict(tfidf.transform([pair.claim for pair in pairs])), strict=True):
        yield prediction(identifier, label)


CLAIM_ONLY = System(
    "claim-only",
    (TASK,),
    "TF-IDF of words and bigrams of the claim, logistic regression; ignores the evidence",
    "Schuster et al. 2019",
    _predict,
    needs=("train",),
    uses=("weights",),
    options=(strength_option(1), LABELS_OPTION),
)
