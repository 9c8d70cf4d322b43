"""metric-correlation: ratings without their texts, and ratings that tell nothing apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

import msgspec
import numpy as np

from evaluator.curation.audit.duplicates.within_split import as_words
from evaluator.curation.audit.findings import Finding, Severity
from evaluator.curation.audit.gold_consistency.grouped_findings import Faults
from evaluator.curation.audit.split import Split
from evaluator.text import counted


def _rated_apart(split: Split) -> Iterator[Finding]:
    """One text, one reference, and ratings in the lowest and in the highest quarter of all."""
    ratings = np.array(split.gold.ratings, dtype=np.float64)
    ordered, quarter = np.sort(ratings), len(ratings) // 4
    low, high = ordered[quarter], ordered[-1 - quarter]
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, question in enumerate(split.questions):
        if question is not None:
            places[as_words(question)].append(place)
    apart = [
        found for found in places.values() if low < high and min(ratings[found]) <= low and max(ratings[found]) >= high
    ]
    if apart:
        lines = [[split.line(place) for place in found] for found in apart[:10]]
        yield Finding(
            Severity.WARNING,
            "duplicates-rated-apart",
            f"{counted(len(apart), 'text stands', 'texts stand')} "
            f"there with a rating in the lowest and one in the highest quarter, first on "
            "lines " + ", ".join(map(str, lines[0][:10])),
            "no metric can agree with both",
            "look at them; one rating may stand at another text's",
            split.file,
            lines[0][0],
            {"texts": len(apart), "lines": lines},
        )


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
    yield from _rated_apart(split)
    if len(set(gold.ratings)) == 1:
        yield Finding(
            Severity.ERROR,
            "one-rating",
            "all texts have one rating",
            "no correlation has a value",
            "rate them",
            split.file,
        )
