"""Public page of a split: its files, its published audits with the managers' answers, and its errata."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import benchmark_or_404, split_or_404
from leaderboard.datasets.queries import audit_results, download_zip
from leaderboard.datasets.queries.errata import errata_of
from leaderboard.datasets.web import generator_texts
from leaderboard.datasets.web.audit_finding_texts import describe
from leaderboard.models import Benchmark, Split


@require_safe
@conditional_page
def split(request: HttpRequest, slug: str, split: str) -> HttpResponse:
    """Show the public page of a split; the page of a draft is shown only to its managers."""
    benchmark, split_row = _split(request, slug, split)
    audits = [
        (audit, [(finding, describe(finding.code)) for finding in audit_results.digest(audit)])
        for audit in audit_results.public_audits(split_row)
    ]
    gold = split_row.current_gold
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "split": split_row,
        "gold": gold,
        "audits": audits,
        "is_audited": gold is not None and any(audit.gold_id == gold.pk for audit, _ in audits),
        "errata": errata_of(benchmark, viewer=request.user, split=split_row),
        "phases": benchmark.phases.filter(split=split_row),
        "has_archive": bool(split_row.inputs) and split_row.inputs_public,
        "is_manager": benchmark.is_managed_by(request.user),
        **generator_texts.provenance(split_row),
    }
    return render(request, "datasets/split.html", context)


@require_safe
def archive(request: HttpRequest, slug: str, split: str) -> HttpResponseBase:
    """Send the split's inputs with README, licence, citation and checksums as one ZIP file."""
    benchmark, split_row = _split(request, slug, split)
    if not split_row.inputs or not split_row.inputs_public:
        raise Http404("the split has no public inputs")
    members = download_zip.texts(benchmark, split_row)
    digest = f'"{download_zip.digest(members)}"'

    @condition(etag_func=lambda _: digest)
    def respond(_: HttpRequest) -> StreamingHttpResponse:
        disposition = f'attachment; filename="{slug}-{split}.zip"'
        response = StreamingHttpResponse(
            download_zip.pieces(split_row, members),
            content_type="application/zip",
            headers={"Content-Disposition": disposition},
        )
        # The file of a draft is for managers only, so no shared cache may keep it.
        patch_cache_control(response, private=True, no_cache=True)
        return response

    return respond(request)


def _split(request: HttpRequest, slug: str, name: str) -> tuple[Benchmark, Split]:
    return benchmark_or_404(request.user, slug), split_or_404(request.user, slug, name)
