"""Top of the management pages of benchmarks: the organisers' open tasks, and counts of submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from leaderboard.datasets.queries import audit_results
from leaderboard.models import (
    Benchmark,
    Correction,
    NearDuplicate,
    Prediction,
    Registration,
    Run,
    Split,
    State,
    Submission,
    System,
)

WEEK = timedelta(days=7)
MOST_FAILED = 5
"""Maximum number of failed submissions that are linked one by one."""


@dataclass(frozen=True)
class Waiting:
    """Something that organisers have to do, with the address where they do it."""

    text: str
    url: str


@dataclass(frozen=True)
class Activity:
    """Counts of a benchmark's submissions.

    teams: number of competing teams with submissions. failed: submissions that failed through the server's fault.
    """

    teams: int
    submissions: int
    today: int
    last_week: int
    failed: int
    last: datetime | None


def waiting_for_organisers(benchmark: Benchmark) -> list[Waiting]:
    """Return the open tasks of a benchmark's organisers. Those that concern participants come first."""
    return [
        *_registrations(benchmark),
        *_failures(benchmark),
        *_near_duplicates(benchmark),
        *_corrections(benchmark),
        *_audits(benchmark),
    ]


def n_waiting(benchmarks: Collection[Benchmark]) -> Counter[int]:
    """Return the number of open tasks of the organisers, by primary key of the benchmark."""
    open_rows = (
        (Registration.objects.filter(state=Registration.State.REQUESTED), "benchmark"),
        (_failed(Submission.objects.all()), "phase__benchmark"),
        (NearDuplicate.objects.filter(dismissed_at=None), "phase__benchmark"),
        (Correction.objects.filter(decision=Correction.Decision.PENDING), "split__dataset__benchmarks"),
    )
    counts: Counter[int] = Counter()
    for rows, of_benchmark in open_rows:
        grouped = rows.filter(**{f"{of_benchmark}__in": benchmarks}).order_by().values_list(of_benchmark)
        counts.update(dict(grouped.annotate(n=Count("pk", distinct=True))))
    drafts = Split.objects.filter(dataset__benchmarks__in=benchmarks, state=Split.State.DRAFT)
    with_drafts = set(drafts.values_list("dataset", flat=True))
    for benchmark in benchmarks:
        if benchmark.dataset_id in with_drafts:
            counts[benchmark.pk] += len(_audits(benchmark))
    return counts


def activity_of(benchmark: Benchmark) -> Activity:
    rows, at = Submission.objects.filter(phase__benchmark=benchmark), timezone.now()
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return Activity(
        teams=rows.filter(system__kind=System.Kind.PARTICIPANT).values("system__team").distinct().count(),
        submissions=rows.count(),
        today=rows.filter(received_at__gte=midnight).count(),
        last_week=rows.filter(received_at__gt=at - WEEK).count(),
        failed=_failed(rows).count(),
        last=rows.aggregate(last=Max("received_at"))["last"],
    )


def _failed(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Return the submissions whose latest run, or prediction if there is no run, failed through the server's fault."""
    runs = Run.objects.filter(prediction__submission=OuterRef("pk")).order_by("-queued_at").values("state")
    predictions = Prediction.objects.filter(submission=OuterRef("pk")).order_by("-queued_at").values("state")
    return submissions.annotate(last=Coalesce(Subquery(runs[:1]), Subquery(predictions[:1]))).filter(last=State.FAILED)


def _registrations(benchmark: Benchmark) -> list[Waiting]:
    n = benchmark.registrations.filter(state=Registration.State.REQUESTED).count()
    url = reverse("manage_participants", args=[benchmark.slug])
    return [Waiting(f"{_count(n, 'registration')} to answer", url)] if n else []


def _failures(benchmark: Benchmark) -> list[Waiting]:
    rows = (
        _failed(Submission.objects.filter(phase__benchmark=benchmark)).select_related("system").order_by("-received_at")
    )
    return [
        Waiting(f"{row.system.name}, submitted {row.received_at:%Y-%m-%d %H:%M} UTC, failed", row.get_absolute_url())
        for row in rows[:MOST_FAILED]
    ]


def _near_duplicates(benchmark: Benchmark) -> list[Waiting]:
    n = NearDuplicate.objects.filter(phase__benchmark=benchmark, dismissed_at=None).count()
    url = reverse("manage_near_duplicates", args=[benchmark.slug])
    return [Waiting(f"{_count(n, 'near-duplicate')} to look at", url)] if n else []


def _corrections(benchmark: Benchmark) -> list[Waiting]:
    rows = Correction.objects.filter(split__dataset=benchmark.dataset_id, decision=Correction.Decision.PENDING)
    return [
        Waiting(
            f"The correction of {row.split.name} waits for your confirmation",
            reverse("manage_correction", args=[benchmark.slug, row.split.name, row.pk]),
        )
        for row in rows.select_related("split").order_by("pk")
    ]


def _audits(benchmark: Benchmark) -> list[Waiting]:
    """Return the audits of draft splits with errors or unanswered warnings, which block the publication of a split."""
    rows = []
    for split in benchmark.dataset.splits.filter(state=Split.State.DRAFT).order_by("pk"):
        verdict = audit_results.verdict(split)
        if verdict.audit is None or verdict.is_passed:
            continue
        url = reverse("manage_audit", args=[benchmark.slug, split.name, verdict.audit.pk])
        if verdict.errors:
            rows.append(Waiting(f"The audit of {split.name} found {_count(verdict.errors, 'error')}", url))
        else:
            rows.append(Waiting(f"{_count(verdict.unanswered, 'audit warning')} of {split.name} to answer", url))
    return rows


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' if n != 1 else ''}"
