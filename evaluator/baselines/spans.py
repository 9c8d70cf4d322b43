"""knowledge-base-population: nothing found, and one fact a property that spans the whole passage."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.baselines.base import Asked, Baseline, Line


def _nothing(asked: Asked) -> Iterable[Line]:
    for line in asked.inputs:
        for passage in line["passages"]:
            yield {"documentId": line["documentId"], "passageId": passage["passageId"], "facts": []}


def _whole_passage(asked: Asked) -> Iterable[Line] | None:
    properties = list(asked.facts.get("properties", ())) or sorted(
        {name for train in asked.trains for name in train.gold.property_ids}
    )
    return _spanning(asked, properties) if properties else None


def _spanning(asked: Asked, properties: list[str]) -> Iterable[Line]:
    for line in asked.inputs:
        for passage in line["passages"]:
            span = {
                "subjectStart": passage["passageStart"],
                "subjectEnd": passage["passageEnd"],
                "objectStart": passage["passageStart"],
                "objectEnd": passage["passageEnd"],
                "subjectUri": "",
                "objectUri": "",
            }
            facts = [{"propertyId": name, **span} for name in properties]
            yield {"documentId": line["documentId"], "passageId": passage["passageId"], "facts": facts}


BASELINES = (
    Baseline("nothing", "no fact in any passage", _nothing, "link_f1", 0.0),
    Baseline(
        "whole-passage",
        "one fact of each property in each passage, its spans the whole passage",
        _whole_passage,
        "text_f1",
        0.0,
        needs="the names of the properties, or public gold that has them",
        known=True,
    ),
)
