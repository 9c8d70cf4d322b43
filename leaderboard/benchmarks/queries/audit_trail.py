"""Audit trail of a benchmark: what managers did with the benchmark, its data and its phases, and who read gold when.

It is the part of the audit log (`leaderboard.models.audit_log`) that concerns one benchmark. What teams did
(submissions, withdrawals) is not part of it; submission pages show that.
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
    NearDuplicate,
    Phase,
    ReportedResult,
    Scorer,
    Split,
    SplitAudit,
    Submission,
    System,
)

GOLD_READ = ("gold.read", "audit.read", "generation.read")
"""Actions by which users read hidden gold."""
OF_TEAMS = ("submission.refused", "submission.checked")
ABOUT_TEAMS = ("system.disqualified", "system.reinstated", "submission.hidden", "submission.unhidden")
"""Decisions of organisers on a system or a submission; the entry's details name the phase."""
AUDITED_MODELS: dict[type[Model], str] = {
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
    NearDuplicate: "phase__benchmark",
}
"""Models about whose rows the audit trail has entries -> lookup path from the model to its benchmark."""


SAY_WHAT_THEY_ARE = (GoldVersion, SplitAudit, Correction)
"""Models whose `str()` says what kind of object it is; for others the model's verbose name is put in front."""


@dataclass(frozen=True)
class AuditTrailEntry:
    """One entry of the audit trail.

    by: username of the person who acted; empty: the server itself. what: name of the object that the entry is about.
    """

    at: datetime
    by: str
    action: str
    what: str
    detail: dict[str, Any]

    @property
    def read_gold(self) -> bool:
        return self.action in GOLD_READ


def entries(benchmark: Benchmark, *, gold_only: bool = False) -> QuerySet[AuditEntry]:
    """Return the entries of a benchmark's audit trail, newest first.

    gold_only: only entries about users who read hidden gold.
    """
    ours = Q(pk__in=[])
    for model, lookup in AUDITED_MODELS.items():
        ours |= Q(subject__in=_subjects(model, lookup, benchmark))
    phases = list(benchmark.phases.values_list("pk", flat=True))
    ours |= Q(action__in=ABOUT_TEAMS, detail__phase__in=phases)
    rows = AuditEntry.objects.filter(ours).exclude(action__in=OF_TEAMS).select_related("actor")
    return rows.filter(action__in=GOLD_READ) if gold_only else rows


def _subjects(model: type[Model], lookup: str, benchmark: Benchmark) -> QuerySet[Any]:
    name = Concat(Value(f"{model._meta.model_name}:"), Cast("pk", CharField()), output_field=CharField())
    rows = model._default_manager.filter(**{lookup: benchmark.pk}).order_by()
    return rows.annotate(named=name).values("named")


def with_names(rows: Iterable[AuditEntry]) -> list[AuditTrailEntry]:
    """Return audit entries in their order, with the names of the objects that they are about; one query per model."""
    rows = list(rows)
    names = _names({row.subject for row in rows})
    return [
        AuditTrailEntry(
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
    models: list[type[Model]] = [*AUDITED_MODELS, System, Submission]
    for model in models:
        kind = str(model._meta.model_name)
        # The string of a row often includes related rows.
        for pk, row in model._default_manager.select_related().in_bulk(keys.get(kind, [])).items():
            names[f"{kind}:{pk}"] = str(row) if model in SAY_WHAT_THEY_ARE else f"{model._meta.verbose_name} {row}"
    return names
