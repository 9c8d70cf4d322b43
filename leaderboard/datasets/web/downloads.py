"""Public file downloads: a split's public inputs, its gold if it is public, and the dataset's additional files."""

from __future__ import annotations

from itertools import islice

from django.db.models.fields.files import FieldFile
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_safe

from leaderboard.boards.queries.lookup import benchmark_or_404, split_or_404
from leaderboard.core.web.byte_ranges import part_of_file
from leaderboard.datasets.actions import public_files
from leaderboard.datasets.actions.public_files import PublicFile
from leaderboard.datasets.queries.public_files import jsonl_filename
from leaderboard.datasets.queries.public_files import public_files as public_files_of
from leaderboard.models import Download
from leaderboard.submissions.web import prediction_format

LINES_PER_CHUNK = 1000
YEAR = 31_536_000
"""Seconds for which caches may keep a file whose address has its digest."""
CONTENT_TYPES = {"gz": "application/gzip", "jsonl": "application/x-ndjson"}
"""Content types by file suffix; files with any other suffix are sent as application/octet-stream."""


@require_safe
def download_inputs(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    split_row = split_or_404(request.user, slug, split)
    if not split_row.inputs or not split_row.inputs_public:
        raise Http404("the split has no public inputs")
    filename = jsonl_filename(split_row.inputs, f"{slug}-{split}-inputs")
    return _attachment(request, split_row, split_row.inputs, split_row.inputs_sha256, filename)


@require_safe
def download_gold(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    """Send the current gold of a split whose gold is public; 404 for any other split."""
    split_row = split_or_404(request.user, slug, split)
    gold = split_row.current_gold if split_row.gold_public else None
    if gold is None:
        raise Http404("the split has no public gold")
    return _attachment(request, gold, gold.file, gold.sha256, jsonl_filename(gold.file, f"{slug}-{split}-gold"))


@require_safe
def download_sample(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    """Send a valid predictions file for a split with public inputs, made from the ids of the inputs.

    404 for a split without public inputs or gold, or if the task has no samples.
    """
    split_row = split_or_404(request.user, slug, split)
    gold = split_row.current_gold
    if gold is None or not prediction_format.has_sample(split_row.dataset.task, split_row):
        raise Http404("the split has no sample submission")
    lines = prediction_format.sample_lines(split_row.dataset.task, split_row, gold)
    response = StreamingHttpResponse(
        iter(lambda: "".join(islice(lines, LINES_PER_CHUNK)), ""),
        content_type=CONTENT_TYPES["jsonl"],
        headers={"Content-Disposition": f'attachment; filename="{slug}-{split}-sample-submission.jsonl"'},
    )
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def download_file(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """Send an additional public file of the benchmark's dataset, as an attachment so that browsers never render it."""
    benchmark = benchmark_or_404(request.user, slug)
    download = get_object_or_404(Download.objects.select_related("dataset"), dataset=benchmark.dataset, name=name)
    return _attachment(request, download, download.file, download.sha256, download.filename)


@require_safe
def download_pinned(request: HttpRequest, slug: str, sha256: str, filename: str) -> HttpResponseBase:
    """Send the public file of a benchmark that has this digest and name; the URL never has other content.

    404 for a file that not everybody may download, and for a former version of corrected gold.
    """
    for file in public_files_of(benchmark_or_404(None, slug)):
        if (file.sha256, file.filename) == (sha256, filename):
            return _attachment(request, file.row, file.stored, sha256, filename, is_immutable=True)
    raise Http404("no such file")


def _attachment(
    request: HttpRequest, row: PublicFile, stored: FieldFile, sha256: str, filename: str, *, is_immutable: bool = False
) -> HttpResponseBase:
    """Return a response with `stored`, the file of `row`, as an attachment, or a redirect to its public copy.

    The ETag is `sha256`, the file's digest; a request with this ETag gets 304 without the file. filename: the name
    under which browsers save the file. is_immutable: True if everybody may have the file and the URL never has other
    content, so that all caches may keep it.
    """
    etag = f'"{sha256}"'

    @condition(etag_func=lambda _: etag)
    def respond(_: HttpRequest) -> HttpResponseBase:
        content_type = CONTENT_TYPES.get(filename.rpartition(".")[2], "application/octet-stream")
        response: HttpResponseBase
        if copy := public_files.address(row, filename=filename, content_type=content_type):
            response = HttpResponseRedirect(copy)
            patch_cache_control(response, private=True, no_cache=True)  # a signed address is valid for minutes
            return response
        response = part_of_file(request, stored, etag=etag) or FileResponse(stored.open("rb"))
        if response.status_code != 416:
            response["Content-Type"] = content_type
            response["Content-Disposition"] = f'attachment; filename="{filename}"'
        if response.status_code == 200:
            response["Content-Length"] = str(stored.size)
        response["Accept-Ranges"] = "bytes"
        if is_immutable:
            patch_cache_control(response, public=True, max_age=YEAR, immutable=True)
        else:
            # The file of a draft is for managers only, so no shared cache may keep it.
            patch_cache_control(response, private=True, no_cache=True)
        return response

    return respond(request)
