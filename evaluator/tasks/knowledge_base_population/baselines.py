"""Baselines of knowledge-base-population: no facts, and one fact per property that spans the whole passage."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line


def _nothing(data: BaselineInput) -> Iterable[Line]:
    for line in data.inputs:
        for passage in line["passages"]:
            yield {"documentId": line["documentId"], "passageId": passage["passageId"], "facts": []}


def _whole_passage(data: BaselineInput) -> Iterable[Line] | None:
    if not any(line["passages"] for line in data.inputs):
        return None
    properties = list(data.facts.get("properties", ())) or sorted(
        {name for train in data.train_splits for name in train.gold.property_ids}
    )
    return _spanning(data, properties) if properties else None


def _spanning(data: BaselineInput, properties: list[str]) -> Iterable[Line]:
    for line in data.inputs:
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
        needs="the names of the properties, or public gold with them",
        known=True,
        audit=AuditUse(shown=("exact_f1", "link_f1"), advice="show exact_f1 and span_ratio next to it, as boards do"),
    ),
)
