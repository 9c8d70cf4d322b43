"""Croissant 1.0 description of a benchmark's public files: schema.org/Dataset with files, record sets and fields.

Specifications: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html and croissant-rai-spec.html.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import structlog
from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse

from evaluator.tasks.registry import TASKS
from leaderboard.core import spdx
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.datasets.queries.public_files import PublicFile, public_files
from leaderboard.datasets.queries.record_fields import RecordField, fields_of, json_path
from leaderboard.models import Benchmark, Download, GoldVersion, Split

log = structlog.get_logger(__name__)
CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context that the specification prescribes; readers warn if a key is missing."""
DATA_TYPES = {"boolean": "sc:Boolean", "integer": "sc:Integer", "float": "sc:Float", "text": "sc:Text"}
ENCODINGS = {
    ".csv": ["text/csv"],
    ".json": ["application/json"],
    ".jsonl": ["application/jsonlines"],
    ".jsonl.gz": ["application/jsonlines", "application/gzip"],
    ".parquet": ["application/x-parquet"],
    ".tsv": ["text/tab-separated-values"],
    ".txt": ["text/plain"],
    ".zip": ["application/zip"],
}
"""Suffix of a file's name -> its media types, of which the first is that of its content."""
OF_BENCHMARK = ("slug", "title", "summary", "description", "task", "paper_url", "shown_organisers")
OF_DATASET = ("pk", "licence", "citation", "source_url", "description")


def _splits(dataset: int) -> QuerySet[Split, Any]:
    """Return the rows of a dataset's splits; a change of the dataset's public files changes the values of the rows.

    dataset: its primary key. Each row also has the latest gold version of the whole site, because a public file is no
    longer public once hidden gold of any dataset has the same content.
    """
    golds = GoldVersion.objects.order_by("-pk").values("pk")
    files = Download.objects.filter(dataset=dataset).order_by("-pk").values("pk")
    names = ("pk", "name", "state", "published_at", "inputs_sha256", "inputs_public", "gold_public")
    return (
        Split.objects.filter(dataset=dataset)
        .order_by("pk")
        .values_list(*names, Subquery(golds.filter(split=OuterRef("pk"))[:1]), Subquery(golds[:1]), Subquery(files[:1]))
    )


def document_of(benchmark: Benchmark) -> str:
    """Return the Croissant document of a benchmark as JSON that is safe to embed in HTML.

    Empty unless the benchmark is public. A process builds a document once and keeps it until the benchmark or its
    dataset changes, which one query finds out. If stored files cannot be read, the document has no record sets.
    """
    if benchmark.state != Benchmark.State.PUBLIC:
        return ""
    revision = (
        *(getattr(benchmark, name) for name in OF_BENCHMARK),
        *(getattr(benchmark.dataset, name) for name in OF_DATASET),
        *_splits(benchmark.dataset_id),
    )
    try:
        return _document(_Revision(revision, benchmark))
    except (OSError, StoreUnavailableError) as error:
        log.warning("record_fields_unavailable", benchmark=benchmark.slug, error=type(error).__name__)
        return _as_json(_describe(benchmark, has_records=False))


@dataclass(frozen=True)
class _Revision:
    """Cache key of a document: the state of a benchmark and its dataset. Equal states have the same document."""

    state: tuple[Any, ...]
    benchmark: Benchmark = field(compare=False)


@lru_cache(maxsize=256)
def _document(revision: _Revision) -> str:
    return _as_json(_describe(revision.benchmark))


def _as_json(document: dict[str, Any]) -> str:
    """Return a document as JSON with `<`, `>` and `&` escaped, so that no text in it can end an HTML element."""
    return json.dumps(document, ensure_ascii=False).translate({ord(char): f"\\u{ord(char):04x}" for char in "<>&"})


def _describe(benchmark: Benchmark, *, has_records: bool = True) -> dict[str, Any]:
    """Return the Croissant document of a public benchmark. It describes the files that `public_files` returns.

    has_records: include the record sets, for which the stored files are read. Raises StoreUnavailableError or OSError
    if these cannot be read.
    """
    dataset, page = benchmark.dataset, settings.BASE_URL + benchmark.get_absolute_url()
    # A download may be called like a file of a split; identifiers in the document must differ.
    files = list({_stem(file): file for file in reversed(public_files(benchmark))}.values())[::-1]
    published_at = min((file.added_at for file in files), default=benchmark.created_at)
    modified_at = max((file.added_at for file in files), default=benchmark.created_at)
    n_corrections = sum(file.row.number - 1 for file in files if isinstance(file.row, GoldVersion))
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "@id": page,
        "name": benchmark.title,
        "alternateName": benchmark.slug,
        "description": benchmark.description or benchmark.summary,
        "conformsTo": CONFORMS_TO,
        "url": page,
        "license": spdx.address_or_text(dataset.licence),
        "citeAs": dataset.citation or f"{benchmark.title}. {page}",
        "citation": benchmark.paper_url,
        "isBasedOn": dataset.source_url,
        "creator": [_creator(*line) for line in benchmark.organisers_with_links],
        "publisher": {"@type": "sc:Organization", "name": "Holdout", "url": f"{settings.BASE_URL}/"},
        "datePublished": published_at.date().isoformat(),
        "dateModified": modified_at.date().isoformat(),
        "version": f"1.{n_corrections}.0",
        "isAccessibleForFree": True,
        "keywords": [TASKS[benchmark.task].title, "benchmark", "leaderboard"],
        "rai:dataCollection": dataset.description,
        "rai:dataUseCases": f"Evaluation of systems for the task {TASKS[benchmark.task].title}: {benchmark.summary}",
        "rai:dataReleaseMaintenancePlan": "Files never change. Corrected gold is a new version with a public erratum.",
        "distribution": [_file_object(benchmark, file) for file in files],
        "recordSet": [_record_set(file, fields) for file in files if has_records and (fields := fields_of(file))],
    }
    return {key: value for key, value in document.items() if value not in ("", [], None)}


def _creator(name: str, link: str) -> dict[str, Any]:
    """Return an organiser of a benchmark as a schema.org Person or Organization, in JSON-LD.

    name: `PERSON, AFFILIATION`, or the name of an organisation, which has no comma. link: URL of the person or
    organisation; empty for none.
    """
    person, _, affiliation = name.partition(",")
    url = {"url": link} if link else {}
    if not affiliation.strip():
        return {"@type": "sc:Organization", "name": name, **url}
    organisation = {"@type": "sc:Organization", "name": affiliation.strip()}
    return {"@type": "sc:Person", "name": person.strip(), "affiliation": organisation, **url}


def _stem(file: PublicFile) -> str:
    return file.filename[: file.filename.index(".")]


def _file_object(benchmark: Benchmark, file: PublicFile) -> dict[str, Any]:
    address = reverse("download_pinned", args=[benchmark.slug, file.sha256, file.filename])
    suffix = file.filename[file.filename.index(".") :]
    return {
        "@type": "cr:FileObject",
        "@id": file.filename,
        "name": file.filename,
        "description": file.title,
        "contentUrl": settings.BASE_URL + address,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": ENCODINGS.get(suffix, ["application/octet-stream"]),
        "sha256": file.sha256,
    }


def _record_set(file: PublicFile, fields: Sequence[RecordField]) -> dict[str, Any]:
    name = _stem(file)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{file.title}. One record per line.",
        "field": [_field(row, name, file) for row in fields],
    }


def _field(row: RecordField, record_set: str, file: PublicFile) -> dict[str, Any]:
    (column,) = row.path
    top: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{quote(column, safe='')}",
        "name": f"{record_set}/{column}",
        **({"repeated": True} if row.is_list else {}),
    }
    source = {"fileObject": {"@id": file.filename}, "extract": {"column": column}}
    if not row.parts:
        return {**top, "dataType": DATA_TYPES[row.type], "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{top['@id']}/{'/'.join(quote(key, safe='') for key in part.path)}",
            "name": f"{top['name']}/{'/'.join(part.path)}",
            "dataType": DATA_TYPES[part.type],
            **({"repeated": True} if part.is_list else {}),
            "source": {**source, "transform": {"jsonPath": json_path(part.path)}},
        }
        for part in row.parts
    ]
    return {**top, "subField": parts}
