"""Hosting of a benchmark from its manifest: creates everything in it with the actions that the pages use.

Every step is idempotent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from django.core.files import File
from django.db import transaction

from leaderboard.benchmarks.actions import benchmarks, edit
from leaderboard.benchmarks.manifest import Manifest, ManifestError, SplitPart, convert, text
from leaderboard.boards.actions import facts, tracks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import (
    datasets,
    downloads,
    lifecycle,
    partition_gold,
    splits,
)
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Dataset,
    Phase,
    PublicPrivatePartition,
    ReportedResult,
    Split,
    User,
)
from leaderboard.submissions.actions import hide, registrations

BEGAN, ENDED = "hosting.began", "hosting.ended"
DOWNLOAD = "download "
"""Prefix of the keys under which the audit trail records the digests of downloads."""
EDITED = {
    *("summary", "description", "rules", "licence", "contact", "questions_url", "paper_url", "organisers"),
    *("main_phase", "access", "asks_agreement", "teams_may_hide", "facts"),
}
"""Keys of a manifest that another release may change, and that organisers edit on pages: they may differ."""
LATER = (
    *("takes_images", "limits", "gpus", "gpu_memory_gb", "tracks", "time_zone"),
    *("exact_scores", "least_groups", "detailed_answers", "afterwards"),
)
"""Fields of a phase that may change after the phase was hosted. They are not part of the digests."""


@dataclass(frozen=True)
class Hosted:
    """A hosted benchmark. changed: False if it had been hosted before and nothing was added."""

    benchmark: Benchmark
    changed: bool


def host(
    *, manifest: Manifest | dict[str, Any], folder: Path, by: User, say: Callable[[str], None] = lambda line: None
) -> Hosted:
    """Create the dataset, splits, gold, benchmark, phases and reported rows of a manifest; publish if it says so.

    folder: where the manifest's files are. by: the curator who hosts the benchmark. say: called with each line of
    progress. An interrupted hosting resumes where it stopped. For a benchmark that is already hosted, only new
    downloads are added, the phases' tracks are changed to the manifest's, and phases are opened to container images.
    Raises ManifestError for an invalid manifest or an unreadable file; Refused NAME_TAKEN if the manifest's slug
    belongs to a benchmark with other content; and Refused for anything that an individual action refuses.
    """
    manifest = manifest if isinstance(manifest, Manifest) else convert(manifest)
    parts = _digests(manifest, folder)
    dataset = _dataset(manifest, parts, by)
    if AuditEntry.objects.filter(action=ENDED, subject=f"dataset:{dataset.pk}").exists():
        benchmark = dataset.benchmarks.get(slug=manifest.slug)
        _say_disclosure(benchmark, manifest, say)
        n_opened = _open_to_images(benchmark, manifest, by, say)
        n_tracks = _give_tracks(benchmark, manifest, by, say)
        n_downloads = _downloads(dataset, manifest, folder, by, say)
        counts = {"new downloads": n_downloads, "phases now accept images": n_opened, "phases got new tracks": n_tracks}
        changes = [f"{count} {label}" for label, count in counts.items() if count]
        summary = ", ".join(changes) or "nothing was changed"
        say(f"{manifest.slug}: already hosted, with the same content; {summary}")
        return Hosted(benchmark, changed=bool(changes))
    for split in manifest.splits:
        _partition(_split(dataset, split, folder, by, say), split, by, say)
    _downloads(dataset, manifest, folder, by, say)
    benchmark = _benchmark(manifest, dataset, by)
    if manifest.public:
        for dataset_split in dataset.splits.exclude(inputs=""):
            lifecycle.publish_unaudited(split=dataset_split, by=by)
        benchmarks.publish(benchmark=benchmark, by=by)
    AuditEntry.record(ENDED, dataset, by=by)
    say(f"{manifest.slug}: hosted{'' if manifest.public else ' as a draft'}")
    return Hosted(benchmark, changed=True)


@contextmanager
def opened(folder: Path, name: str) -> Iterator[File[bytes]]:
    """Open and yield the file that a manifest names. folder: the manifest's folder. name: the file's path in it.

    Raises ManifestError if the file is outside `folder` or cannot be read.
    """
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ManifestError(f"manifest: {name!r} is outside the manifest's folder, expected a file inside it")
    try:
        stream = path.open("rb")
    except OSError as error:
        raise ManifestError(f"manifest: {name} cannot be read: {error.strerror}") from error
    with stream:
        yield File(stream, name=path.name)


def _digests(manifest: Manifest, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each top-level key's value in a manifest and of each file that it names, by name.

    The names are the manifest's keys, `file PATH` for a split's file, and `download NAME`. Equal digests show that a
    benchmark was hosted with the same content. Parts that may change later (systems, publication, answers to audits,
    and the fields LATER of a phase) are left out.
    """
    whole = msgspec.to_builtins(manifest)
    for name in ("systems", "public", "downloads", "audit_answers", "$schema"):
        whole.pop(name, None)
    for phase, name in product(whole["phases"], LATER):
        phase.pop(name, None)
    parts = {name: _sha256(msgspec.json.encode(part, order="deterministic")) for name, part in whole.items()}
    for split in manifest.splits:
        with opened(folder, split.gold or split.inputs) as file:
            parts[f"file {split.gold or split.inputs}"] = sha256_of(file)
    for download in manifest.downloads:
        with opened(folder, download.file) as file:
            parts[f"{DOWNLOAD}{download.name}"] = sha256_of(file)
    return parts


def _dataset(manifest: Manifest, parts: dict[str, str], by: User) -> Dataset:
    """Get or create the manifest's dataset. parts: a result of `_digests`.

    The dataset of an interrupted hosting with other content is deleted and created again. Raises Refused NAME_TAKEN if
    a dataset or benchmark with the manifest's slug was hosted from other content, or was not created from a manifest.
    """
    taken = Dataset.objects.filter(slug=manifest.slug).first()
    if taken is not None:
        began = AuditEntry.objects.filter(action=BEGAN, subject=f"dataset:{taken.pk}").first()
        hosted = began.detail["parts"] if began else {}
        names = (parts.keys() | hosted.keys()) - EDITED
        differing = sorted(name for name in names if parts.get(name) != hosted.get(name))
        if taken.benchmarks.exists():
            # Downloads may be added to a hosted benchmark; `downloads.add` refuses a changed file.
            differing = [name for name in differing if not name.startswith(DOWNLOAD)]
        if not differing:
            return taken
        if not began or taken.benchmarks.exists():
            reason = (
                f"hosted from other content: {', '.join(differing)}" if began else "but was not hosted from a manifest"
            )
            raise _already_exists(manifest, reason)
        # An earlier hosting was interrupted by an error in the manifest or in a file, which has been fixed since.
        datasets.discard(dataset=taken, by=by)
    if Benchmark.objects.filter(slug=manifest.slug).exists():
        raise _already_exists(manifest, "as a benchmark on another dataset")
    with transaction.atomic():
        dataset = datasets.create(
            slug=manifest.slug,
            title=manifest.title,
            task=manifest.task,
            description=manifest.source,
            licence=manifest.licence,
            citation=manifest.citation,
            source_url=manifest.source_url,
            by=by,
        )
        AuditEntry.record(BEGAN, dataset, by=by, parts=parts)
        return dataset


def _already_exists(manifest: Manifest, reason: str) -> Refused:
    return Refused(
        Code.NAME_TAKEN, f"{manifest.slug} already exists, {reason}. Nothing was changed; choose another slug."
    )


def _split(dataset: Dataset, part: SplitPart, folder: Path, by: User, say: Callable[[str], None]) -> Split:
    split = dataset.splits.filter(name=part.name).first() or splits.create_split(
        dataset=dataset,
        name=part.name,
        kind=part.kind,
        gold_public=part.gold_public,
        inputs_public=part.inputs_public,
        options=part.options,
        by=by,
    )
    if split.inputs:
        return split
    with opened(folder, part.gold or part.inputs) as file:
        if part.inputs:
            splits.add_inputs(split=split, file=file, by=by)
            say(f"{dataset.slug}/{split.name}: inputs, {split.inputs_bytes:,} bytes")
            return split
        gold = splits.add_gold(split=split, file=file, reason="as first hosted", by=by)
    seen = "public" if split.gold_public else "hidden"
    say(f"{split}: {gold.n_units:,} units in {gold.n_groups:,} groups, {seen} gold; ranked by {gold.primary}")
    return split


def _partition(split: Split, part: SplitPart, by: User, say: Callable[[str], None]) -> None:
    if part.public_share and not PublicPrivatePartition.objects.filter(gold=split.current_gold).exists():
        partition = partition_gold.partition(split=split, share=Decimal(part.public_share), by=by)
        say(f"{split}: {partition.n_public:,} public groups, {partition.n_private:,} private groups")


def _downloads(dataset: Dataset, manifest: Manifest, folder: Path, by: User, say: Callable[[str], None]) -> int:
    """Add the manifest's downloads to the dataset; return the number of downloads that it did not have.

    say: called with a line for each new download. Raises Refused as `downloads.add` does.
    """
    existing = set(dataset.downloads.values_list("name", flat=True))
    for part in manifest.downloads:
        texts = {"title": part.title, "description": part.description}
        with opened(folder, part.file) as file:
            download = downloads.add(dataset=dataset, name=part.name, file=file, by=by, **texts)
        if download.name not in existing:
            say(f"{download}: {download.bytes:,} bytes to download")
    return len({part.name for part in manifest.downloads} - existing)


def _say_disclosure(benchmark: Benchmark, manifest: Manifest, say: Callable[[str], None]) -> None:
    """Report with `say` the phases whose disclosure policy is another than the manifest's.

    The digests do not show it: organisers change it on the phase's page.
    """
    parts = {part.slug: part for part in manifest.phases}
    for phase in benchmark.phases.filter(slug__in=parts).select_related("split"):
        policy = parts[phase.slug].disclosure or benchmarks.recommended(phase.split)
        if phase.disclosure != policy:
            say(
                f"{manifest.slug}: the phase {phase.slug} has the disclosure policy {phase.disclosure}; it was not "
                f"changed to {policy}, which the manifest asks for"
            )


def _open_to_images(benchmark: Benchmark, manifest: Manifest, by: User, say: Callable[[str], None]) -> int:
    """Let phases accept container images if the manifest says so; return the number of changed phases.

    A phase that accepts images already keeps its container limits; `say` reports those that differ from the manifest's.
    """
    parts = {part.slug: part for part in manifest.phases if part.takes_images}
    changed = []
    for phase in benchmark.phases.filter(slug__in=parts):
        asked = {name: getattr(parts[phase.slug], name) for name in ("limits", "gpus", "gpu_memory_gb")}
        if not phase.takes_images:
            changed.append(benchmarks.take_images(phase=phase, by=by, **asked))
        elif any(getattr(phase, name) != value for name, value in asked.items()):
            say(
                f"{manifest.slug}: the phase {phase.slug} has other container limits; they were not changed to the "
                "manifest's"
            )
    return len(changed)


def _give_tracks(benchmark: Benchmark, manifest: Manifest, by: User, say: Callable[[str], None]) -> int:
    """Change the phases' tracks to those of the manifest; return the number of changed phases.

    A change that is refused, because existing submissions would not fit, is only reported with `say`. Phases without
    tracks in the manifest are not changed.
    """
    changed = 0
    for part in manifest.phases:
        phase = benchmark.phases.get(slug=part.slug)
        new_tracks = [msgspec.structs.asdict(track) for track in part.tracks]
        if not new_tracks or phase.tracks == new_tracks:
            continue
        try:
            tracks.change(phase=phase, new_tracks=new_tracks, by=by)
        except Refused as refused:
            say(f"{manifest.slug}: the tracks of the phase {part.slug} were not changed. {refused}")
        else:
            changed += 1
    return changed


@transaction.atomic
def _benchmark(manifest: Manifest, dataset: Dataset, by: User) -> Benchmark:
    """Get or create the manifest's benchmark with its phases and reported results, in one transaction."""
    existing = dataset.benchmarks.filter(slug=manifest.slug).first()
    if existing is not None:
        return existing
    benchmark = benchmarks.create(
        slug=manifest.slug,
        title=manifest.title,
        task=manifest.task,
        dataset=dataset,
        summary=manifest.summary,
        description=text(manifest.description),
        rules=text(manifest.rules),
        by=by,
    )
    names = {split.name: split for split in Split.objects.filter(dataset=dataset)}
    for phase in manifest.phases:
        split, fields = names[phase.split], phase.given()
        policy = fields.get("disclosure") or benchmarks.recommended(split)
        fields = {"disclosure": policy, **benchmarks.proposed(policy), **fields}
        fields |= {"split": split, "tracks": [msgspec.structs.asdict(track) for track in phase.tracks]}
        benchmarks.add_phase(phase=Phase(benchmark=benchmark, **fields), by=by)
    for row in manifest.reported:
        fields = msgspec.structs.asdict(row) | {"values": [msgspec.structs.asdict(value) for value in row.values]}
        benchmarks.add_reported(row=ReportedResult(benchmark=benchmark, **fields), by=by)
    return _describe(manifest, benchmark, by)


def _describe(manifest: Manifest, benchmark: Benchmark, by: User) -> Benchmark:
    """Set the benchmark's fields that organisers set on separate management pages, and return the benchmark.

    They are links, organisers, main phase, facts, access, agreement to the rules, and whether teams may hide their
    submissions.
    """
    texts = {name: getattr(manifest, name) for name in ("contact", "questions_url", "paper_url", "main_phase")}
    texts["shown_organisers"] = "\n".join(manifest.organisers)
    edit.edit(benchmark=benchmark, values=texts, seen=edit.marks(edit.state_of(benchmark)), by=by)
    if manifest.facts:
        facts.change(benchmark=benchmark, new_facts=[msgspec.structs.asdict(fact) for fact in manifest.facts], by=by)
    hide.set_teams_may_hide(benchmark=benchmark, allowed=manifest.teams_may_hide, by=by)
    return registrations.set_access(
        benchmark=benchmark, access=manifest.access, asks_agreement=manifest.asks_agreement, by=by
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


__all__ = ["Hosted", "Manifest", "ManifestError", "host", "opened"]
