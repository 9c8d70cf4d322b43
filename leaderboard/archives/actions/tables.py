"""The rows that belong to a benchmark, by table, ordered so that each row comes after those it refers to."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Model, Q, QuerySet

from leaderboard.boards.queries.reported_results import valid_results
from leaderboard.models import (
    Announcement,
    ArchiveExport,
    ArchiveImport,
    AuditAnswer,
    AuditEntry,
    Bar,
    Benchmark,
    BoardHistory,
    ChangedItem,
    Comparison,
    Correction,
    Dataset,
    Disqualification,
    Download,
    Extension,
    Final,
    Follow,
    GeneratedFrom,
    GeneratedPart,
    Generation,
    GoldUpload,
    GoldVersion,
    HeadToHead,
    HiddenSubmission,
    Image,
    ImageUpload,
    Invitation,
    Leaderboard,
    Membership,
    NearDuplicate,
    Notice,
    PastStanding,
    Phase,
    Placement,
    PlotPicture,
    PlotRendering,
    Prediction,
    Profile,
    PublicPrivatePartition,
    QuotaCharge,
    RankChange,
    Ranking,
    RankSnapshot,
    RawFile,
    RawUpload,
    Registration,
    Release,
    ReleasePlot,
    ReleaseSlice,
    ReportedResult,
    Representative,
    RulesAgreement,
    Run,
    Score,
    Scorer,
    SimilarityCheck,
    Split,
    SplitAudit,
    Standing,
    Submission,
    System,
    Team,
    Teaser,
    TokenDetails,
    UploadPiece,
    User,
    Webhook,
    WorkerReport,
)

Rows = Callable[[Benchmark], QuerySet[Any]]


def _where(model: type[Model], **lookups: str) -> Rows:
    """Return a function that returns the rows of a model that belong to a benchmark.

    lookups: one keyword argument. Its name is the lookup path from the model to the benchmark or its dataset, its value
    the attribute of the benchmark that must be equal to it: "pk" or "dataset_id".
    """
    ((lookup, which),) = lookups.items()
    return lambda benchmark: model._default_manager.filter(**{lookup: getattr(benchmark, which)}).order_by("pk")


def _systems(benchmark: Benchmark) -> QuerySet[System]:
    return System.objects.filter(pk__in=Submission.objects.filter(phase__benchmark=benchmark).values("system"))


def _teams(benchmark: Benchmark) -> QuerySet[Team]:
    """Return the teams with submissions, deadline extensions or a registration, and the team of the baselines."""
    others = (
        Q(extensions__phase__benchmark=benchmark) | Q(baselines_of=benchmark) | Q(registrations__benchmark=benchmark)
    )
    return Team.objects.filter(Q(systems__in=_systems(benchmark)) | others).distinct().order_by("pk")


def _reported(benchmark: Benchmark) -> QuerySet[ReportedResult]:
    """Return the reported results with valid numbers. Others are left out, because no server would import them."""
    shown = [row.pk for row, _ in valid_results(benchmark)]
    return ReportedResult.objects.filter(pk__in=shown).order_by("pk")


def _images(benchmark: Benchmark) -> QuerySet[Image]:
    sent = Submission.objects.filter(phase__benchmark=benchmark, image__isnull=False)
    scoring = Scorer.objects.filter(benchmark=benchmark)
    return Image.objects.filter(Q(pk__in=sent.values("image")) | Q(pk__in=scoring.values("image"))).order_by("pk")


TABLES: dict[type[Model], Rows] = {
    Team: _teams,
    Membership: lambda benchmark: Membership.objects.filter(team__in=_teams(benchmark).order_by()).order_by("pk"),
    Dataset: _where(Dataset, pk="dataset_id"),
    Split: _where(Split, dataset="dataset_id"),
    GoldVersion: _where(GoldVersion, split__dataset="dataset_id"),
    SplitAudit: _where(SplitAudit, gold__split__dataset="dataset_id"),
    Correction: lambda benchmark: Correction.objects.filter(
        split__dataset=benchmark.dataset_id, decision=Correction.Decision.CONFIRMED
    ).order_by("pk"),
    ChangedItem: lambda benchmark: ChangedItem.objects.filter(
        correction__split__dataset=benchmark.dataset_id, correction__decision=Correction.Decision.CONFIRMED
    ).order_by("pk"),
    AuditAnswer: _where(AuditAnswer, audit__gold__split__dataset="dataset_id"),
    PublicPrivatePartition: _where(PublicPrivatePartition, gold__split__dataset="dataset_id"),
    RawFile: _where(RawFile, dataset="dataset_id"),
    Generation: _where(Generation, dataset="dataset_id"),
    GeneratedFrom: _where(GeneratedFrom, generation__dataset="dataset_id"),
    GeneratedPart: _where(GeneratedPart, generation__dataset="dataset_id"),
    Download: _where(Download, dataset="dataset_id"),
    Benchmark: _where(Benchmark, pk="pk"),
    Teaser: _where(Teaser, benchmark="pk"),
    Registration: _where(Registration, benchmark="pk"),
    RulesAgreement: _where(RulesAgreement, benchmark="pk"),
    Image: _images,
    Scorer: _where(Scorer, benchmark="pk"),
    Phase: _where(Phase, benchmark="pk"),
    Extension: _where(Extension, phase__benchmark="pk"),
    Announcement: _where(Announcement, benchmark="pk"),
    ReportedResult: _reported,
    System: lambda benchmark: _systems(benchmark).order_by("pk"),
    Submission: _where(Submission, phase__benchmark="pk"),
    QuotaCharge: _where(QuotaCharge, phase__benchmark="pk"),
    Final: _where(Final, phase__benchmark="pk"),
    Prediction: _where(Prediction, submission__phase__benchmark="pk"),
    Run: _where(Run, prediction__submission__phase__benchmark="pk"),
    Score: _where(Score, run__prediction__submission__phase__benchmark="pk"),
    Release: _where(Release, phase__benchmark="pk"),
    ReleaseSlice: _where(ReleaseSlice, release__phase__benchmark="pk"),
    ReleasePlot: _where(ReleasePlot, release__phase__benchmark="pk"),
    Leaderboard: _where(Leaderboard, phase__benchmark="pk"),
    Ranking: _where(Ranking, leaderboard__phase__benchmark="pk"),
    Comparison: _where(Comparison, leaderboard__phase__benchmark="pk"),
    HeadToHead: _where(HeadToHead, leaderboard__phase__benchmark="pk"),
    Standing: _where(Standing, leaderboard__phase__benchmark="pk"),
    RankChange: _where(RankChange, leaderboard__phase__benchmark="pk"),
    SimilarityCheck: _where(SimilarityCheck, phase__benchmark="pk"),
    NearDuplicate: _where(NearDuplicate, phase__benchmark="pk"),
    Disqualification: _where(Disqualification, phase__benchmark="pk"),
    Representative: _where(Representative, phase__benchmark="pk"),
    HiddenSubmission: _where(HiddenSubmission, submission__phase__benchmark="pk"),
}
"""Model -> function that returns the rows of a benchmark, in the order in which tables are exported and imported.

Users are exported before these tables and audit entries after them: see `people_of` and `audit_entries_of`.
"""

WHERE_DECIDED: tuple[type[Model], ...] = (Phase, Submission)
"""Models that audit entries about a system name in their detail, which shows to which benchmark an entry belongs."""

LEFT_OUT: dict[type[Model], str] = {
    ArchiveImport: "an archive itself, not imported yet",
    ArchiveExport: "an archive itself",
    ImageUpload: "an unfinished upload; its sender resumes or restarts it",
    RawUpload: "an unfinished upload; its sender resumes or restarts it",
    UploadPiece: "a file of an unfinished upload",
    Invitation: "a link to this server",
    Notice: "a message that this server sends",
    RankSnapshot: "a note of this server's sweep",
    GoldUpload: "an upload that this server checks or has refused",
    Bar: "a decision about accounts and teams of this server",
    Follow: "a user's wish for messages of this server",
    Profile: "a user shows it on this server only",
    Webhook: "its secret is derived from this server's key",
    TokenDetails: "tokens are for this server",
    WorkerReport: "it describes this server's own processes",
    Placement: "it names this server's own hosts",
    PlotRendering: "rendered again by the server that imports the archive",
    PastStanding: "derived again by the server that imports the archive",
    BoardHistory: "derived again by the server that imports the archive",
    PlotPicture: "rendered again by the server that imports the archive",
}
"""Model that is not exported -> reason. Users' passwords, tokens and rights are left out too."""


def people_of(benchmark: Benchmark) -> QuerySet[User]:
    """Return the users to whom rows of the benchmark refer, its organisers, and the actors of its audit entries."""
    named = {pk for model, rows in TABLES.items() for pk in _people_in(model, rows(benchmark))}
    named |= set(benchmark.organisers.values_list("pk", flat=True))
    named |= {entry.actor_id for entry in audit_entries_of(benchmark) if entry.actor_id is not None}
    return User.objects.filter(pk__in=named).order_by("pk")


def _people_in(model: type[Model], rows: QuerySet[Any]) -> Iterator[int]:
    for field in model._meta.concrete_fields:
        if field.is_relation and field.related_model is User:
            yield from rows.order_by().filter(**{f"{field.name}__isnull": False}).values_list(field.name, flat=True)


def decided_in(benchmark: Benchmark) -> set[str]:
    """Return the keys of a benchmark's phases and submissions, as text.

    An audit entry about a system, such as a disqualification, names one of them if it concerns this benchmark.
    """
    querysets = (TABLES[model](benchmark).order_by().values_list("pk", flat=True) for model in WHERE_DECIDED)
    return {str(key) for keys in querysets for key in keys}


def audit_entries_of(benchmark: Benchmark) -> Iterator[AuditEntry]:
    """Yield the audit entries about any of the benchmark's rows, in the order of their keys."""
    decided = decided_in(benchmark)
    found = array("q")
    for model, rows in TABLES.items():
        keys = list(rows(benchmark).order_by().values_list("pk", flat=True))
        for start in range(0, len(keys), 500):
            found.extend(entry.pk for entry in acts_on(model, keys[start : start + 500], decided))
    ordered = sorted(found)
    for start in range(0, len(ordered), 500):
        yield from AuditEntry.objects.filter(pk__in=ordered[start : start + 500]).order_by("pk")


def acts_on(model: type[Model], keys: list[Any], decided: set[str]) -> Iterator[AuditEntry]:
    """Yield the audit entries about the rows of a model with the given keys.

    decided: keys of the benchmark's phases and submissions (`decided_in`). Of the entries about a system only those
    that name one of them are yielded, because a system may take part in several benchmarks.
    """
    subjects = [f"{model._meta.model_name}:{key}" for key in keys]
    for entry in AuditEntry.objects.filter(subject__in=subjects).order_by("pk"):
        if model is not System or is_decided_in(entry.detail, decided):
            yield entry


def is_decided_in(detail: dict[str, Any], decided: set[str]) -> bool:
    """Return True if the detail of an audit entry about a system names a phase or submission in `decided`."""
    return str(detail.get("phase")) in decided or str(detail.get("submission")) in decided
