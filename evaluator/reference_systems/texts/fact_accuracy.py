"""`fact-acc` and `binary-fact-acc`: factual accuracy as a metric of generated texts (Goodrich et al. 2019, equation 1).

A trained relation classifier extracts the facts of the generated text and of its reference. The reference can verify a
generated fact if it has a fact with the same subject and relation. The score is the share of the verifiable generated
facts that the reference also states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from evaluator.errors import InputsError
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.texts.relation_classifier import train_classifier
from evaluator.tasks.fact_extraction.layout import Fact
from evaluator.tasks.metric_correlation.layout import INPUTS as TEXTS
from evaluator.tasks.metric_correlation.layout import Text

TASK = "metric-correlation"


def fact_accuracy(generated: Collection[Fact], reference: Collection[Fact]) -> float | None:
    """Return the factual accuracy of the generated facts; None if the reference can verify none of them."""
    known = {fact[:2] for fact in reference}
    verifiable = {fact for fact in generated if fact[:2] in known}
    return len(verifiable.intersection(reference)) / len(verifiable) if verifiable else None


def _read_texts(path: Path) -> list[tuple[Id, str, str]]:
    reader = Reader(str(path), TEXTS, InputsError)
    register = IdRegister(reader.problems)
    texts = []
    with opened(path) as stream:
        for number, line in reader.records(stream):
            if register.add(line.id, number) and (pair := _pair(line)) is not None:
                texts.append((line.id, *pair))
            elif _pair(line) is None:
                reader.problems.add(number, "a text is missing", "no such key", "generated and reference")
    reader.problems.raise_if_any()
    return texts


def _pair(line: Text) -> tuple[str, str] | None:
    if isinstance(line.generated, str) and isinstance(line.reference, str):
        return line.generated, line.reference
    return None


def _predict(job: Job, *, binary: bool) -> Iterator[Line]:
    inputs = [line for path in job.paths(INPUTS) for line in _read_texts(path)]
    classifier, steps = train_classifier(job, binary=binary), Steps(2)
    steps.add(1)
    scores: list[tuple[Id, float | None]] = []
    for identifier, generated, reference in inputs:
        subject = classifier.main_subject(reference)
        facts = [set(classifier.facts(text, subject)) for text in (generated, reference)]
        scores.append((identifier, fact_accuracy(*facts)))
        steps.add(1 / len(inputs))
    defined = [score for _, score in scores if score is not None]
    neutral = sum(defined) / len(defined) if defined else 0.0
    for identifier, score in scores:
        yield {"id": identifier, "score": neutral if score is None else score}


def _predicting(*, binary: bool) -> Callable[[Job], Iterator[Line]]:
    return lambda job: _predict(job, binary=binary)


_SOURCE = "Goodrich et al. 2019, equation 1"
SYSTEMS = (
    System(
        "fact-acc",
        (TASK,),
        "share of correct facts among those the reference can verify, extracted by relation-classifier",
        _SOURCE,
        _predicting(binary=False),
        needs=("train",),
    ),
    System(
        "binary-fact-acc",
        (TASK,),
        "share of correct facts among those the reference can verify, extracted by binary-relation-classifier",
        _SOURCE,
        _predicting(binary=True),
        needs=("train",),
    ),
)
