"""Pages to import a benchmark: upload an archive, preview it, enter its key, and follow the import. For curators."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models.fields.json import KT
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.archives.actions import imports
from leaderboard.archives.web.forms import ImportForm, KeyForm
from leaderboard.core.refusal import Refused
from leaderboard.core.rights import is_curator
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.datasets.web.audit_status_texts import ASK_AGAIN
from leaderboard.models import ArchiveImport

MOST_LISTED = 500
"""Maximum number of files and of tables listed on the page."""
MOST_NAMED = 20
"""Maximum number of renamed accounts listed on the page."""


@needs(is_curator)
@require_http_methods(["GET", "POST"])
def archive_imports(request: PersonRequest) -> HttpResponse:
    """List the uploaded archives; a POST uploads another archive."""
    if request.method != "POST":
        return _list(request, ImportForm())
    form = ImportForm(request.POST, request.FILES)
    try:
        check_upload(request)
        if not form.is_valid():
            return _list(request, form, status=422)
        row = imports.receive(file=form.cleaned_data["file"], by=request.user)
    except Refused as refused:
        return _list(request, form, Refusal(refused))
    return redirect("manage_import", row.pk)


def _list(request: PersonRequest, form: ImportForm, refusal: Refusal | None = None, status: int = 200) -> HttpResponse:
    context = {
        "archive_imports": ArchiveImport.objects.select_related("by").defer("head").annotate(title=KT("head__title")),
        "form": form,
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "refusal": refusal,
    }
    return render(request, "archives/manage_imports.html", context, status=refusal.status if refusal else status)


@sensitive_post_parameters("key")
@needs(is_curator)
@require_http_methods(["GET", "POST"])
def archive_import(request: PersonRequest, pk: int) -> HttpResponse:
    """Show an uploaded archive and its import; a POST with the archive's passphrase or a secret key imports it."""
    row = _row_or_404(pk)
    form = KeyForm(request.POST or None)
    refusal = None
    if form.is_valid():
        try:
            imports.begin(archive_import=row, key=form.cleaned_data["key"], by=request.user)
            return redirect("manage_import", pk)
        except Refused as refused:
            refusal = Refusal(refused)
    readable = sorted(row.head["readable"])
    boards = [name for name in readable if name.startswith("boards/")]
    files = [name for name in readable if not name.startswith("boards/")]
    context = {
        **_state_context(row),
        "n_boards": len(boards),
        "n_files": len(files),
        "names": [*files, *boards][:MOST_LISTED],
        "rows": [(name, n) for name, n in row.head["rows"].items() if n][:MOST_LISTED],
        "in_the_way": imports.find_conflicts(row) if row.may_be_imported else [],
        "renamed": row.result["renamed"][:MOST_NAMED] if row.result else [],
        "more_renamed": max(0, len(row.result["renamed"]) - MOST_NAMED) if row.result else 0,
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if request.method == "POST" else 200
    return render(request, "archives/manage_import.html", context, status=status)


@needs(is_curator)
@require_safe
def state(request: PersonRequest, pk: int) -> HttpResponse:
    """Render the progress of a check or import. Once it has ended, the response makes the page reload."""
    row = _row_or_404(pk)
    response = render(request, "archives/manage_import_state.html", _state_context(row))
    if row.is_over:
        response["HX-Refresh"] = "true"
    return response


def _row_or_404(pk: int) -> ArchiveImport:
    return get_object_or_404(ArchiveImport.objects.select_related("by"), pk=pk)


def _state_context(row: ArchiveImport) -> dict[str, Any]:
    return {
        "archive_import": row,
        "is_import": row.is_checked,
        "ask_again": None if row.is_over else ASK_AGAIN,
    }


@needs(is_curator)
@require_POST
def remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Delete an uploaded archive; an import in progress is cancelled."""
    row = get_object_or_404(ArchiveImport, pk=pk)
    try:
        imports.remove(archive_import=row, by=request.user)
    except Refused as refused:
        return _list(request, ImportForm(), Refusal(refused))
    messages.success(request, "The archive was removed.")
    return redirect("manage_imports")
