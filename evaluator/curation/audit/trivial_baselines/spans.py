"""knowledge-base-population: one fact a property whose spans are the whole passage, which overlap with everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.tasks.audit.split import Split


def systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    if not any(line.passages for line in split.gold.lines):
        return
    yield Trivial(
        "whole-passage",
        "gives every passage one fact of each property that spans all of it, as subject and as object",
        _lines(split),
        "text_f1",
        0.0,
        ("exact_f1", "link_f1"),
        known=True,
    )


def _lines(split: Split) -> Iterator[dict[str, Any]]:
    properties = split.gold.property_ids
    for line, evaluated in zip(split.gold.lines, split.gold.evaluated, strict=True):
        for passage in line.passages if evaluated else ():
            span = {
                "subjectStart": passage.passageStart,
                "subjectEnd": passage.passageEnd,
                "objectStart": passage.passageStart,
                "objectEnd": passage.passageEnd,
                "subjectUri": "",
                "objectUri": "",
            }
            facts = [{"propertyId": name, **span} for name in properties]
            yield {"documentId": line.documentId, "passageId": passage.passageId, "facts": facts}
