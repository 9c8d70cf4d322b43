"""Pages to export a benchmark: request an archive, follow its progress, download it. For curators.

An archive is visible to its requester only. Each download is recorded.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.archives.actions import exports
from leaderboard.archives.web.forms import ExportForm
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.rights import is_curator
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.core.web.refusals import Refusal, add_to
from leaderboard.datasets.web.audit_status_texts import ASK_AGAIN
from leaderboard.models import ArchiveExport, Benchmark, State
from leaderboard.models.archive import RETENTION


@sensitive_post_parameters("passphrase", "repeated")
@needs(is_curator)
@require_http_methods(["GET", "POST"])
@reauthentication_required
def exports_page(request: PersonRequest, slug: str) -> HttpResponse:
    """List the user's own archive exports of a benchmark; a POST requests one."""
    benchmark = managed_or_404(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark)
    form = ExportForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, form=form)
    try:
        names = ("recipients", "passphrase")
        exports.begin(benchmark=benchmark, by=request.user, **{name: form.cleaned_data[name] for name in names})
    except Refused as refused:
        return _page(request, benchmark, add_to(form, refused), form)
    return redirect("manage_exports", slug)


@needs(is_curator)
@require_safe
def state(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Render the progress of an export. Once the export has ended, the response makes the page reload."""
    export = _own_export_or_404(request, slug, pk)
    context = {"benchmark": export.benchmark, "export": export, "ask_again": None if export.is_over else ASK_AGAIN}
    response = render(request, "archives/manage_export_state.html", context)
    if export.is_over:
        response["HX-Refresh"] = "true"
    return response


@needs(is_curator)
@require_POST
@reauthentication_required
def download(request: PersonRequest, slug: str, pk: int) -> HttpResponseBase:
    """Return the archive to the user who requested it."""
    export = _own_export_or_404(request, slug, pk)
    if export.state != State.DONE or not export.file.storage.exists(str(export.file.name)):
        raise Http404("This export has no file: it is not done, or its file has been deleted.")
    exports.record_download(export=export, by=request.user)
    name = f"{slug}-{export.finished_at:%Y-%m-%d-%H%M}.zip"
    return FileResponse(export.file.open("rb"), as_attachment=True, filename=name, content_type="application/zip")


@needs(is_curator)
@require_POST
def remove(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Delete an export before it expires."""
    exports.remove(export=_own_export_or_404(request, slug, pk), by=request.user)
    messages.success(request, "The export was removed.")
    return redirect("manage_exports", slug)


def _own_export_or_404(request: PersonRequest, slug: str, pk: int) -> ArchiveExport:
    rows = ArchiveExport.objects.select_related("benchmark").filter(requested_by=request.user)
    return get_object_or_404(rows, pk=pk, benchmark=managed_or_404(request.user, slug))


def _page(
    request: PersonRequest, benchmark: Benchmark, refusal: Refusal | None = None, form: ExportForm | None = None
) -> HttpResponse:
    archives = list(ArchiveExport.objects.filter(benchmark=benchmark, requested_by=request.user))
    context = {
        "benchmark": benchmark,
        "under_way": next((export for export in archives if not export.is_over), None),
        "over": [(export, export.finished_at + RETENTION) for export in archives if export.finished_at],
        "ask_again": ASK_AGAIN,
        "form": form or ExportForm(),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form is not None else 200
    return render(request, "archives/manage_exports.html", context, status=status)
