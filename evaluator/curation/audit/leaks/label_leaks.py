"""Ids, order, columns and looks of texts that tell what is hidden: all features are tested, a finding is told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluator.curation.audit.leaks.column_features import column_codes
from evaluator.curation.audit.leaks.effect_sizes import Effect, Guesses
from evaluator.curation.audit.leaks.feature_statistics import along, by_value
from evaluator.curation.audit.leaks.id_features import id_order, id_parts
from evaluator.curation.audit.leaks.permutation_test import TIMES, Deals, Feature, Places, Tested, deviations, hidden
from evaluator.curation.audit.leaks.surface_features import surface_codes, texts_by_field
from evaluator.progress import Steps
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Secret, Split

LEVEL = 0.01
_LEAST = 10
_GRAVE = 0.5
"""From this share of what there is to tell on, an answer that is told is an error."""


@dataclass
class _Source:
    """order, ids, a column or a text: what is public, and the features made of it."""

    name: str
    features: list[Feature] = field(default_factory=list)
    codes: dict[str, Places] = field(default_factory=dict)
    orders: dict[str, Places] = field(default_factory=dict)

    def add_codes(self, name: str, codes: Places) -> None:
        self.features.append(by_value(name, codes))
        self.codes[name] = codes

    def add_order(self, name: str, order: Places) -> None:
        self.features += along(name, order)
        self.orders[name] = order

    def effect(self, name: str, guesses: Guesses) -> Effect:
        if name in self.codes:
            return guesses.by_value(self.codes[name])
        what, _, how = name.rpartition(": ")
        order = self.orders[what]
        if how == "trend":
            return guesses.trend(order)
        if how == "neighbours":
            return guesses.neighbours(order)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return guesses.by_value(place % int(how.removeprefix("every ")))


@dataclass(frozen=True)
class Told:
    """findings: one for each source that tells a secret. tested: what was looked at, for the report."""

    findings: list[Finding]
    tested: dict[str, Any]


def tells(
    split: Split, order: Sequence[int], columns: dict[str, list[Any]], *, order_is_public: bool, seed: int
) -> Told:
    """order: places of the split's lines as the public sees them. columns: a value a line, in the split's order."""
    secrets = [secret for secret in split.secrets if len(set(secret.values)) > 1]
    told: dict[str, Any] = {"level": LEVEL, "deals": TIMES, "secrets": [one.name for one in secrets], "features": 0}
    if len(split) < _LEAST or not secrets:
        return Told([], told)
    sources = _sources(split, order, columns)
    deals = Deals(split.groups)
    features = [feature for source in sources for feature in source.features]
    told["features"] = len(features)
    steps = Steps(len(secrets) * (TIMES + 1))
    findings = []
    for secret in secrets:
        found = deviations(features, hidden(secret.values), deals, seed=seed, steps=steps)
        names = iter(found)
        for source in sources:
            own = [next(names) for _ in source.features]
            telling = [one for one in own if one.p <= LEVEL / len(secrets)]
            if telling:
                effects = _effects(secret, source, telling, deals)
                findings.append(_finding(split, secret, source, effects, order_is_public))
    return Told(findings, told)


def _sources(split: Split, order: Sequence[int], columns: dict[str, list[Any]]) -> list[_Source]:
    rows, ids = _Source("order"), _Source("ids")
    rows.add_order("place in the file", np.asarray(order, dtype=np.int64))
    made = [rows]
    if split.has_ids:
        ids.add_order("order of the ids", id_order(split.ids))
        for name, codes in id_parts(split.ids).items():
            ids.add_codes(name, codes)
        made.append(ids)
    for name, values in columns.items():
        source = _Source(f"column {name}")
        for what, codes in column_codes(values).items():
            source.add_codes(f"{name}: {what}", codes)
        if source.features:
            made.append(source)
    for name, texts in texts_by_field(split).items():
        source = _Source(f"text {name}")
        for what, codes in surface_codes(texts, split).items():
            source.add_codes(f"{name}: {what}", codes)
        if source.features:
            made.append(source)
    return made


_ADVICE = {
    "order": "shuffle the lines with a secret seed; the server writes inputs in an order that follows from salted ids",
    "text": "write the texts of all answers by one rule, of like length, punctuation, case and spaces",
    "ids": "give salted ids (a keyed digest) that follow from nothing in the line",
}


def _effects(secret: Secret, source: _Source, telling: list[Tested], deals: Deals) -> list[tuple[Tested, Effect]]:
    guesses = Guesses(secret.values, deals)
    return [(one, source.effect(one.name, guesses)) for one in telling]


def _finding(
    split: Split, secret: Secret, source: _Source, effects: list[tuple[Tested, Effect]], order_is_public: bool
) -> Finding:
    best, effect = max(effects, key=lambda one: (one[1].share, one[0].z))
    public = source.name != "order" or order_is_public
    grave = secret.grave and public and effect.share >= _GRAVE
    kind = source.name.split()[0]
    tell = "tell" if kind == "ids" else "tells"
    name = "label" if secret.answer else secret.name
    advice = _ADVICE.get(kind, "leave the column out of what is published")
    means = f"whoever sees the {source.name} knows something of the {secret.name} without the task"
    if kind == "text":
        means = f"the looks of the {source.name} tell something of the {secret.name} to whoever does not read it"
    if not public:
        means = f"publishing the lines in this order would tell the {secret.name}; inputs that the server writes do not"
    return Finding(
        severity=Severity.ERROR if grave else Severity.WARNING,
        code=f"{kind}-{tell}-{name.replace(' ', '-')}",
        found=f"the {source.name} {tell} the {secret.name} ({best.name}: {effect.told}; p = {best.p:.3f})",
        means=means,
        do=advice,
        file=split.file,
        numbers={
            "source": source.name,
            "secret": secret.name,
            "share_told": effect.share,
            "tests": [{"feature": one.name, "p": one.p, "z": one.z, "share_told": told.share} for one, told in effects],
        },
    )
