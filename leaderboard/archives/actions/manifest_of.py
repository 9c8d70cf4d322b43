"""Manifest of a stored benchmark, in the form that `manage.py import_benchmark own` reads."""

from __future__ import annotations

from typing import Any

from leaderboard.benchmarks.manifest import (
    DownloadPart,
    FactPart,
    Manifest,
    PhasePart,
    ReportedPart,
    SplitPart,
    TrackPart,
)
from leaderboard.boards.queries.reported_results import valid_results
from leaderboard.models import Benchmark, Phase, PublicPrivatePartition, Split
from leaderboard.models.benchmark import PHASE_FIELDS


def manifest_of(benchmark: Benchmark) -> Manifest:
    """Return the manifest of a benchmark, with file names as in an archive.

    Systems are left out: the archive has them as submissions.
    """
    dataset = benchmark.dataset
    splits = [split for split in dataset.splits.order_by("pk") if split.inputs]
    return Manifest(
        slug=benchmark.slug,
        title=benchmark.title,
        task=benchmark.task,
        summary=benchmark.summary,
        description=benchmark.description,
        rules=benchmark.rules,
        licence=dataset.licence,
        citation=dataset.citation,
        source=dataset.description,
        source_url=dataset.source_url,
        contact=benchmark.contact,
        questions_url=benchmark.questions_url,
        paper_url=benchmark.paper_url,
        organisers=[line for line in map(str.strip, benchmark.shown_organisers.splitlines()) if line],
        access=benchmark.access,  # type: ignore[arg-type]  # one of Benchmark.Access, as the manifest's are
        asks_agreement=benchmark.needs_agreement,
        teams_may_hide=benchmark.teams_may_hide,
        main_phase=benchmark.phases.filter(is_main=True).values_list("slug", flat=True).first() or "",
        facts=[FactPart(**fact) for fact in benchmark.facts],
        public=benchmark.is_published,
        splits=[_split(split) for split in splits],
        phases=[_phase(phase) for phase in benchmark.phases.select_related("split")],
        downloads=[
            DownloadPart(
                name=download.name,
                file=f"downloads/{download.name}{download.suffix}",
                title=download.title,
                description=download.description,
            )
            for download in dataset.downloads.order_by("pk")
        ],
        reported=[
            ReportedPart(
                system=row.system,
                paper=row.paper,
                table=row.table,
                split=row.split,
                same_split=row.same_split,
                track=row.track,
                note=row.note,
                values=numbers,
            )
            for row, numbers in valid_results(benchmark)
        ],
    )


def file_of(kind: str, split: Split, stored: str) -> str:
    """Return the path of a split's file in an archive. kind: gold or inputs; stored: the file's name in the storage."""
    return f"{kind}/{split.name}.jsonl{'.gz' if stored.endswith('.gz') else ''}"


def _split(split: Split) -> SplitPart:
    gold = split.current_gold
    partition = PublicPrivatePartition.objects.filter(gold=gold).first() if gold else None
    return SplitPart(
        name=split.name,
        kind=split.kind,  # type: ignore[arg-type]  # one of Split.Kind, as the manifest's are
        gold=file_of("gold", split, str(gold.file.name)) if gold else "",
        inputs="" if gold else file_of("inputs", split, str(split.inputs.name)),
        gold_public=split.gold_public,
        inputs_public=split.inputs_public,
        options=split.options,
        public_share=f"{partition.share:f}" if partition else "",
    )


def _phase(phase: Phase) -> PhasePart:
    fields: dict[str, Any] = {name: _sorted(getattr(phase, name)) for name in PHASE_FIELDS}
    return PhasePart(**fields | {"split": phase.split.name, "tracks": [TrackPart(**track) for track in phase.tracks]})


def _sorted(value: Any) -> Any:
    """Return an object of a phase with its keys in order, in which not every database keeps them."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value
