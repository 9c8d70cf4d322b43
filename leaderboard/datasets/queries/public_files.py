"""Files of a benchmark that everybody may download: inputs and gold of its public splits, and additional files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch
from django.db.models.fields.files import FieldFile

from leaderboard.models import Benchmark, Download, GoldVersion, Split


@dataclass(frozen=True)
class PublicFile:
    """A public file of a benchmark.

    row: the split (for its inputs), gold version or download whose file it is. stored: the file. filename: the name
    under which browsers save it. title: description of the content, for readers. added_at: when this content was
    published.
    """

    row: Split | GoldVersion | Download
    stored: FieldFile
    sha256: str
    bytes: int
    filename: str
    title: str
    added_at: datetime


def public_files(benchmark: Benchmark) -> list[PublicFile]:
    """Return a benchmark's public files; none unless the benchmark is public.

    Files of draft splits, hidden gold and hidden inputs are left out, and so is a file with the same content as hidden
    gold or hidden inputs of any dataset. Of corrected gold only the current version is returned.
    """
    if benchmark.state != Benchmark.State.PUBLIC:
        return []
    versions = Prefetch("gold_versions", GoldVersion.objects.order_by("-number"), to_attr="versions")
    splits = benchmark.dataset.splits.exclude(state=Split.State.DRAFT).prefetch_related(versions)
    files = []
    for split in splits:
        name = f"{benchmark.slug}-{split.name}"
        published_at = split.published_at or split.created_at
        if split.inputs and split.inputs_public:
            filename = jsonl_filename(split.inputs, f"{name}-inputs")
            title = f"Inputs of the split {split.name}"
            digest, size = split.inputs_sha256, split.inputs_bytes
            files.append(PublicFile(split, split.inputs, digest, size, filename, title, published_at))
        if split.gold_public and split.versions:  # by the prefetch
            gold = split.versions[0]
            filename = jsonl_filename(gold.file, f"{name}-gold")
            title = f"Gold of the split {split.name}: the inputs with the answers"
            added_at = max(published_at, gold.created_at) if gold.number > 1 else published_at
            files.append(PublicFile(gold, gold.file, gold.sha256, gold.bytes, filename, title, added_at))
    for file in benchmark.dataset.downloads.all():
        title = f"{file.title}. {file.description}" if file.description else file.title
        files.append(
            PublicFile(file, file.file, file.sha256, file.bytes, file.filename, title, added_at=file.created_at)
        )
    digests = [file.sha256 for file in files]
    hidden_gold = GoldVersion.objects.filter(sha256__in=digests, split__gold_public=False)
    hidden_inputs = Split.objects.filter(inputs_sha256__in=digests, inputs_public=False)
    hidden = {*hidden_gold.values_list("sha256", flat=True), *hidden_inputs.values_list("inputs_sha256", flat=True)}
    return [file for file in files if file.sha256 not in hidden]


def jsonl_filename(stored: FieldFile, name: str) -> str:
    """Return `name` with the suffix .jsonl, or .jsonl.gz if the stored file is compressed.

    Browsers save the file under this name.
    """
    return f"{name}.jsonl.gz" if (stored.name or "").endswith(".gz") else f"{name}.jsonl"
