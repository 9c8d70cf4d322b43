"""What was done with a benchmark, its data and its phases by those who manage it, and who read gold, when.

What teams send and withdraw is told on their submissions' pages, and is none of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import CharField, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from leaderboard.models import (
    Announcement,
    AuditEntry,
    Benchmark,
    Correction,
    Dataset,
    Download,
    GoldVersion,
    NearCopy,
    Phase,
    ReportedResult,
    Scorer,
    Split,
    SplitAudit,
    Submission,
    System,
)

GOLD_READ = ("gold.read", "audit.read", "generation.read")
"""Acts in which somebody saw what is hidden."""
OF_TEAMS = ("submission.refused",)
ABOUT_TEAMS = ("system.disqualified", "system.reinstated", "submission.hidden", "submission.unhidden")
"""What organisers decide about a system or a submission in a phase, which the act names."""
THINGS: dict[type[Model], str] = {
    Benchmark: "pk",
    Dataset: "benchmarks",
    Split: "dataset__benchmarks",
    GoldVersion: "split__dataset__benchmarks",
    SplitAudit: "gold__split__dataset__benchmarks",
    Correction: "split__dataset__benchmarks",
    Download: "dataset__benchmarks",
    Phase: "benchmark",
    Scorer: "benchmark",
    ReportedResult: "benchmark",
    Announcement: "benchmark",
    NearCopy: "phase__benchmark",
}
"""Whose acts they are, and how each reaches the benchmark."""


SAY_WHAT_THEY_ARE = (GoldVersion, SplitAudit, Correction)
"""By their own names."""


@dataclass(frozen=True)
class Act:
    """One line of the trail. by: a username; empty: the server itself. what: the thing's own name."""

    at: datetime
    by: str
    action: str
    what: str
    detail: dict[str, Any]

    @property
    def read_gold(self) -> bool:
        return self.action in GOLD_READ


def entries(benchmark: Benchmark, *, gold_only: bool = False) -> QuerySet[AuditEntry]:
    """The newest first. gold_only: those in which somebody read gold."""
    ours = Q(pk__in=[])
    for model, lookup in THINGS.items():
        ours |= Q(subject__in=_subjects(model, lookup, benchmark))
    phases = list(benchmark.phases.values_list("pk", flat=True))
    ours |= Q(action__in=ABOUT_TEAMS, detail__phase__in=phases)
    rows = AuditEntry.objects.filter(ours).exclude(action__in=OF_TEAMS).select_related("actor")
    return rows.filter(action__in=GOLD_READ) if gold_only else rows


def _subjects(model: type[Model], lookup: str, benchmark: Benchmark) -> QuerySet[Any]:
    name = Concat(Value(f"{model._meta.model_name}:"), Cast("pk", CharField()), output_field=CharField())
    rows = model._default_manager.filter(**{lookup: benchmark.pk}).order_by()
    return rows.annotate(named=name).values("named")


def acts(rows: Iterable[AuditEntry]) -> list[Act]:
    """The lines of some entries, with what they are about by name; a few queries for all of them."""
    rows = list(rows)
    names = _names({row.subject for row in rows})
    return [
        Act(
            row.at, row.actor.username if row.actor else "", row.action, names.get(row.subject, row.subject), row.detail
        )
        for row in rows
    ]


def _names(subjects: Iterable[str]) -> dict[str, str]:
    keys: dict[str, list[str]] = {}
    for subject in subjects:
        kind, _, key = subject.partition(":")
        keys.setdefault(kind, []).append(key)
    names = {}
    models: list[type[Model]] = [*THINGS, System, Submission]
    for model in models:
        kind = str(model._meta.model_name)
        # What a row calls itself often names the rows that it hangs on.
        for pk, row in model._default_manager.select_related().in_bulk(keys.get(kind, [])).items():
            names[f"{kind}:{pk}"] = str(row) if model in SAY_WHAT_THEY_ARE else f"{model._meta.verbose_name} {row}"
    return names
