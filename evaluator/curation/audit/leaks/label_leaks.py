"""Tests whether ids, order, columns or surface features of texts leak hidden values, such as labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.leaks.effect_sizes import Effect, EffectSizes
from evaluator.curation.audit.leaks.feature_statistics import along, by_value
from evaluator.curation.audit.leaks.features import column_features, surface_features, texts_by_field
from evaluator.curation.audit.leaks.id_features import id_order, id_parts
from evaluator.curation.audit.leaks.max_t_test import (
    N_PERMUTATIONS,
    Feature,
    Indices,
    Permutations,
    TestResult,
    hidden,
    max_t_test,
)
from evaluator.progress import Steps
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Secret

LEVEL = 0.01
_LEAST = 10
_SERIOUS = 0.5
"""Effect size from which a leak of a column with `Secret.is_serious` is an error, not a warning."""


@dataclass
class _PublicSource:
    """Public information that may leak hidden values: the order of lines, the ids, a column or a text.

    features: those to test. codes: feature name -> integer code of each line. orders: order name -> indices of the
    lines in that order, from which several features are made.
    """

    name: str
    features: list[Feature] = field(default_factory=list)
    codes: dict[str, Indices] = field(default_factory=dict)
    orders: dict[str, Indices] = field(default_factory=dict)

    def add_codes(self, name: str, codes: Indices) -> None:
        self.features.append(by_value(name, codes))
        self.codes[name] = codes

    def add_order(self, name: str, order: Indices) -> None:
        self.features += along(name, order)
        self.orders[name] = order

    def effect(self, name: str, guesses: EffectSizes) -> Effect:
        """Return the effect size of guessing the hidden values from the source's feature of this name."""
        if name in self.codes:
            return guesses.by_value(self.codes[name])
        source, _, statistic = name.rpartition(": ")
        order = self.orders[source]
        if statistic == "trend":
            return guesses.trend(order)
        if statistic == "neighbours":
            return guesses.neighbours(order)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return guesses.by_value(rank % int(statistic.removeprefix("every ")))


@dataclass(frozen=True)
class LeakReport:
    """Result of the tests. findings: one for each pair of a source and a hidden column that it leaks.

    tested: the significance level, the names of the hidden columns, and the numbers of permutations and of features, as
    JSON values.
    """

    findings: list[Finding]
    tested: dict[str, Any]


def find_label_leaks(
    split: AuditedSplit, order: Sequence[int], columns: dict[str, list[Any]], *, order_is_public: bool, seed: int
) -> LeakReport:
    """Test whether public sources reveal hidden values better than chance, and report those that do.

    order: the indices of lines, in public order. columns: name -> values, one per line of the split, of each public
    column that is not a field of the task. order_is_public: False if the server will write the inputs in another order;
    then a leak by order is a warning only. seed: for the permutations.

    The family-wise error is at most LEVEL: the max-T test of a hidden column corrects for all features, and LEVEL is
    divided by the number of hidden columns (Bonferroni). Splits of fewer than ten lines are not tested.
    """
    secrets = [secret for secret in split.secrets if len(set(secret.values)) > 1]
    secret_names = [secret.name for secret in secrets]
    tested: dict[str, Any] = {"level": LEVEL, "permutations": N_PERMUTATIONS, "secrets": secret_names, "features": 0}
    if len(split) < _LEAST or not secrets:
        return LeakReport([], tested)
    sources = _sources(split, order, columns)
    permutations = Permutations(split.groups)
    features = [feature for source in sources for feature in source.features]
    tested["features"] = len(features)
    steps = Steps(len(secrets) * (N_PERMUTATIONS + 1))
    findings = []
    for secret in secrets:
        results = max_t_test(features, hidden(secret.values), permutations, seed=seed, steps=steps)
        names = iter(results)
        for source in sources:
            source_results = [next(names) for _ in source.features]
            significant = [item for item in source_results if item.p <= LEVEL / len(secrets)]
            if significant:
                effects = _effects(secret, source, significant, permutations)
                findings.append(_finding(split, secret, source, effects, order_is_public))
    return LeakReport(findings, tested)


def _sources(split: AuditedSplit, order: Sequence[int], columns: dict[str, list[Any]]) -> list[_PublicSource]:
    rows, ids = _PublicSource("order"), _PublicSource("ids")
    rows.add_order("position in the file", np.asarray(order, dtype=np.int64))
    sources = [rows]
    if split.has_ids:
        ids.add_order("order of the ids", id_order(split.ids))
        for name, codes in id_parts(split.ids).items():
            ids.add_codes(name, codes)
        sources.append(ids)
    for name, values in columns.items():
        source = _PublicSource(f"column {name}")
        for feature, codes in column_features(values).items():
            source.add_codes(f"{name}: {feature}", codes)
        if source.features:
            sources.append(source)
    for name, texts in texts_by_field(split).items():
        source = _PublicSource(f"text {name}")
        for feature, codes in surface_features(texts, split).items():
            source.add_codes(f"{name}: {feature}", codes)
        if source.features:
            sources.append(source)
    return sources


_ADVICE = {
    "order": "shuffle the lines with a secret seed; inputs that the server writes are ordered by salted ids",
    "text": "write the texts for all answers by one rule, with similar length, punctuation, case and spaces",
    "ids": "use salted ids (a keyed digest) that do not depend on the line's content",
}


def _effects(
    secret: Secret, source: _PublicSource, tests: list[TestResult], permutations: Permutations
) -> list[tuple[TestResult, Effect]]:
    guesses = EffectSizes(secret.values, permutations)
    return [(test, source.effect(test.name, guesses)) for test in tests]


def _finding(
    split: AuditedSplit,
    secret: Secret,
    source: _PublicSource,
    effects: list[tuple[TestResult, Effect]],
    order_is_public: bool,
) -> Finding:
    best, effect = max(effects, key=lambda item: (item[1].share, item[0].z))
    public = source.name != "order" or order_is_public
    is_error = secret.is_serious and public and effect.share >= _SERIOUS
    kind = source.name.split()[0]
    verb, reveal, predict = ("tell", "reveal", "predict") if kind == "ids" else ("tells", "reveals", "predicts")
    name = "label" if secret.answer else secret.name
    advice = _ADVICE.get(kind, "do not publish the column")
    means = f"the {source.name} alone {predict} the {secret.name} better than chance, without solving the task"
    if kind == "text":
        means = (
            f"the form of the {source.name} alone predicts the {secret.name} better than chance, without its meaning"
        )
    if not public:
        means = f"lines published in this order would reveal the {secret.name}; inputs that the server writes do not"
    return Finding(
        severity=Severity.ERROR if is_error else Severity.WARNING,
        code=f"{kind}-{verb}-{name.replace(' ', '-')}",
        found=f"the {source.name} {reveal} the {secret.name} ({best.name}: {effect.text}; p = {best.p:.3f})",
        meaning=means,
        advice=advice,
        file=split.file,
        numbers={
            "source": source.name,
            "secret": secret.name,
            "share_told": effect.share,
            "tests": [
                {"feature": item.name, "p": item.p, "z": item.z, "share_told": size.share} for item, size in effects
            ],
        },
    )
