"""Gold that does not match what it is about: one module a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from evaluator.curation.audit.findings import Finding
from evaluator.curation.audit.gold_consistency import claims, documents, questions, rated, texts, triples
from evaluator.curation.audit.split import Split

_CHECKS: Mapping[str, Callable[[Split], Iterator[Finding]]] = {
    "fact-verification": claims.findings,
    "fact-checking": triples.findings,
    "link-prediction": questions.findings,
    "knowledge-base-population": documents.findings,
    "fact-extraction": texts.findings,
    "metric-correlation": rated.findings,
}


def matching(split: Split) -> list[Finding]:
    return list(_CHECKS[split.task.name](split))
