"""Files for everyone: a split's inputs, and its gold where the split says that it is public."""

from __future__ import annotations

from django.db.models.fields.files import FieldFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_safe

from leaderboard.models import Split
from leaderboard.web.public.access import benchmark_or_404


@require_safe
def download_inputs(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    found = _split(request, slug, split)
    if not found.inputs:
        raise Http404("no inputs")
    return _sent(request, found.inputs, found.inputs_sha256, f"{slug}-{split}-inputs")


@require_safe
def download_gold(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    """The current gold of a split whose gold is public; any other split is answered as one that is not there."""
    found = _split(request, slug, split)
    gold = found.current_gold if found.gold_public else None
    if gold is None:
        raise Http404("no gold")
    return _sent(request, gold.file, gold.sha256, f"{slug}-{split}-gold")


def _split(request: HttpRequest, slug: str, name: str) -> Split:
    benchmark = benchmark_or_404(request, slug)
    return get_object_or_404(Split, dataset=benchmark.dataset, name=name)


def _sent(request: HttpRequest, stored: FieldFile, sha256: str, name: str) -> HttpResponseBase:
    """The stored bytes as an attachment; their digest is the ETag."""

    def etag(_: HttpRequest) -> str:
        return f'"{sha256}"'

    @condition(etag_func=etag)
    def respond(_: HttpRequest) -> HttpResponse | FileResponse:
        zipped = (stored.name or "").endswith(".gz")
        response = FileResponse(
            stored.open("rb"),
            as_attachment=True,
            filename=f"{name}.jsonl.gz" if zipped else f"{name}.jsonl",
            content_type="application/gzip" if zipped else "application/x-ndjson",
        )
        response["Content-Length"] = str(stored.size)
        # A draft's file must not outlive its page in a shared cache.
        patch_cache_control(response, private=True, no_cache=True)
        return response

    return respond(request)
