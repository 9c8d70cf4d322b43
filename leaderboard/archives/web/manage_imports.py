"""Pages to import a benchmark: upload an archive, preview it, and import it with a secret key. For curators."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.archives.actions import imports
from leaderboard.archives.web.forms import ImportForm, KeyForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.models import ArchiveImport
from leaderboard.permissions import is_curator

MOST_NAMED = 20
"""Maximum number of renamed accounts listed in a message."""


@needs(is_curator)
@require_http_methods(["GET", "POST"])
def archive_imports(request: PersonRequest) -> HttpResponse:
    """List the archives waiting to be imported; a POST uploads another archive."""
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
        "archive_imports": ArchiveImport.objects.select_related("by"),
        "form": form,
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "refusal": refusal,
    }
    return render(request, "archives/manage_imports.html", context, status=refusal.status if refusal else status)


@sensitive_post_parameters("key")
@needs(is_curator)
@require_http_methods(["GET", "POST"])
def archive_import(request: PersonRequest, pk: int) -> HttpResponse:
    """Show what an uploaded archive contains; a POST with the archive's passphrase or a secret key imports it."""
    row = get_object_or_404(ArchiveImport.objects.select_related("by"), pk=pk)
    form = KeyForm(request.POST or None)
    refusal = None
    if form.is_valid():
        try:
            result = imports.import_upload(archive_import=row, key=form.cleaned_data["key"], by=request.user)
            messages.success(request, f"{result.benchmark.title} was imported unchanged.")
            if result.renamed:
                messages.info(request, _in_words(result.renamed))
            return redirect("manage_benchmark", result.benchmark.slug)
        except Refused as refused:
            refusal = Refusal(refused)
    readable = sorted(row.head["readable"])
    context = {
        "archive_import": row,
        "boards": [name for name in readable if name.startswith("boards/")],
        "files": [name for name in readable if not name.startswith("boards/")],
        "rows": [(name, n) for name, n in row.head["rows"].items() if n],
        "in_the_way": imports.find_conflicts(row),
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if request.method == "POST" else 200
    return render(request, "archives/manage_import.html", context, status=status)


def _in_words(renamed: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(f"{name} is now {new_name}" for name, new_name in renamed[:MOST_NAMED])
    more = f", and {len(renamed) - MOST_NAMED} more" if len(renamed) > MOST_NAMED else ""
    return f"Accounts whose names are taken here were renamed: {names}{more}. The audit trail lists all of them."


@needs(is_curator)
@require_POST
def remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Delete an archive that was not imported."""
    row = get_object_or_404(ArchiveImport, pk=pk)
    try:
        imports.remove(archive_import=row, by=request.user)
    except Refused as refused:
        return _list(request, ImportForm(), Refusal(refused))
    messages.success(request, "The archive was removed.")
    return redirect("manage_imports")
