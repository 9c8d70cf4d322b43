"""metric-correlation: ratings without their texts, and ratings that tell nothing apart."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from evaluator.curation.audit.findings import Finding, Severity
from evaluator.curation.audit.matching.collected import Faults
from evaluator.curation.audit.split import Split


def findings(split: Split) -> Iterator[Finding]:
    faults, gold = Faults(split), split.gold
    _, warning, _ = Severity
    textless = faults.kind(
        warning,
        "no-text",
        "have no generated text",
        "the public inputs show nothing to score: the texts must be published elsewhere",
        "add generated, or say where it is",
    )
    nameless = faults.kind(
        warning,
        "no-system",
        "name no system, though others do",
        "partial correlations exist only where every line names one",
        "name it",
    )
    named = any(system is not None for system in gold.systems)
    for place, (text, system) in enumerate(zip(gold.texts, gold.systems, strict=True)):
        if text.generated is msgspec.UNSET or not str(text.generated).strip():
            textless.add(place)
        if named and system is None:
            nameless.add(place)
    yield from faults.findings()
    if len(set(gold.ratings)) == 1:
        yield Finding(
            Severity.ERROR,
            "one-rating",
            "all texts have one rating",
            "no correlation has a value",
            "rate them",
            split.file,
        )
