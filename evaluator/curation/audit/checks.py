"""The audit's checks in the order in which they are made, each by itself: long ones can be told of one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.curation.audit.annotators.agreement import Judgements, agreement
from evaluator.curation.audit.balance import balance, group_structure
from evaluator.curation.audit.duplicates.train_overlap import overlap
from evaluator.curation.audit.duplicates.within_split import duplicates
from evaluator.curation.audit.leaks.cue_words import wording
from evaluator.curation.audit.leaks.label_leaks import tells
from evaluator.curation.audit.public_inputs import Public
from evaluator.curation.audit.sizes import sizes
from evaluator.curation.audit.trivial_baselines import trivial
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import Split

FORMAT = 1
"""Raised when a key of the report goes or changes its meaning; new keys do not raise it."""


@dataclass(frozen=True)
class Beside:
    """What is audited beside gold: the inputs as they will be published, training files, annotators' judgements."""

    public: Public | None = None
    trains: Sequence[Split] = ()
    judgements: Judgements | None = None
    judgements_file: str = ""


@dataclass(frozen=True)
class Asked:
    """What one audit is about. options: as `Task.parse_options` gives them. threshold: of near duplicates."""

    split: Split
    beside: Beside
    options: Mapping[str, Any]
    seed: int
    threshold: float


Told = tuple[dict[str, Any], list[Finding]]
"""Keys of the report with their values, and what was found."""


def _sizes(asked: Asked) -> Told:
    split = asked.split
    task = split.task
    outcomes = task.score(split.gold, task.unanswered(split.gold), asked.options)
    slices, more = sizes(split, outcomes)
    return {
        "audit": FORMAT,
        "task": task.name,
        "task_version": task.version,
        "file": Path(split.file).name,
        "published_layout": split.published,
        "lines": len(split),
        "units": outcomes.n_units,
        "primary": task.primary(task.facts(split.gold)),
        "sizes": [one.as_dict() for one in slices],
    }, [*task.check_gold(split), *more]


def _balance(asked: Asked) -> Told:
    table, found = balance(asked.split)
    groups, more = group_structure(asked.split)
    return {"balance": table, "groups": groups}, [*found, *more]


def _duplicates(asked: Asked) -> Told:
    told, found = duplicates(asked.split, threshold=asked.threshold)
    return {"duplicates": told}, found


def _overlaps(asked: Asked) -> Told:
    told = [overlap(asked.split, train, threshold=asked.threshold) for train in asked.beside.trains]
    return {"overlaps": [one for one, _ in told]}, [finding for _, found in told for finding in found]


def _cues(asked: Asked) -> Told:
    told, found = wording(asked.split, asked.beside.trains)
    return {"cues": told}, found


def _trivial(asked: Asked) -> Told:
    split = asked.split
    outcomes = split.task.score(split.gold, split.task.unanswered(split.gold), asked.options)
    scored, found = trivial(split, asked.beside.trains, asked.options, sizes(split, outcomes)[0][0])
    return {"trivial": [one.as_dict() for one in scored]}, found


def _tells(asked: Asked) -> Told:
    split, public = asked.split, asked.beside.public
    order = public.order if public is not None else list(range(len(split)))
    columns = public.columns if public is not None else split.columns
    told = tells(split, order, columns, order_is_public=public is not None or split.published, seed=asked.seed)
    return {"tells": told.tested}, [*(public.findings if public is not None else []), *told.findings]


def _agreement(asked: Asked) -> Told:
    beside = asked.beside
    told: dict[str, Any] | None = None
    found: list[Finding] = []
    if beside.judgements is not None:
        told, found = agreement(asked.split, beside.judgements, beside.judgements_file)
    return {"agreement": told, "not_looked_at": _not_looked_at(asked.split, beside)}, found


def _not_looked_at(split: Split, beside: Beside) -> list[dict[str, str]]:
    told = []
    if beside.public is None and not split.published:
        told.append({"what": "inputs", "why": "no --inputs: that gold and inputs match is not checked"})
    if not beside.trains:
        told.append({"what": "training", "why": "no --train: neither leakage nor systems trained on public data"})
    if beside.judgements is None:
        told.append({"what": "agreement", "why": "no --annotations"})
    if not split.texts:
        told.append({"what": "near duplicates", "why": "the lines have no texts"})
    return told


PARTS: dict[str, Callable[[Asked], Told]] = {
    "sizes": _sizes,
    "balance": _balance,
    "duplicates": _duplicates,
    "overlaps": _overlaps,
    "cues": _cues,
    "trivial": _trivial,
    "tells": _tells,
    "agreement": _agreement,
}
"""One after the other they make the report (`report.assembled`)."""
