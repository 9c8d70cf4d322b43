"""Management page to edit a benchmark's texts."""

from __future__ import annotations

import json

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.benchmarks.actions import edit as editing
from leaderboard.benchmarks.web.forms.edit import EditForm
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Benchmark


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form with the current values.

    A POST with `preview` renders the form's Markdown and saves nothing; any other POST saves the form, unless somebody
    else has changed a value since the form was opened.
    """
    benchmark = managed_or_404(request.user, slug)
    form = EditForm(request.POST or None, benchmark=benchmark, by=request.user)
    refusal = None
    theirs: list[tuple[str, str]] = []
    wants_preview = "preview" in request.POST
    if not wants_preview and form.is_valid():
        seen = form.cleaned_data["seen"]
        try:
            changed = editing.edit(benchmark=benchmark, values=form.values(), seen=seen, by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
            form, theirs = _conflicts(request, benchmark, form)
        else:
            messages.success(request, f"{benchmark.title} was changed." if changed else "No changes were made.")
            return redirect("manage_benchmark", slug)
    context = {
        "benchmark": benchmark,
        "form": form,
        "refusal": refusal,
        "theirs": theirs,
        "previews": _previews(form) if wants_preview else [],
        "others": editing.others_on_dataset(benchmark) if "licence" in form.fields else [],
        "has_dataset": "licence" in form.fields,
    }
    status = refusal.status if refusal else 422 if request.method == "POST" and form.errors else 200
    return render(request, "benchmarks/manage_edit.html", context, status=status)


def _previews(form: EditForm) -> list[tuple[str, str]]:
    return [(str(form[name].label), form[name].value() or "") for name in ("description", "rules")]


def _conflicts(request: PersonRequest, benchmark: Benchmark, sent: EditForm) -> tuple[EditForm, list[tuple[str, str]]]:
    """Return the form to send again, and (label, current text) of each field that somebody else has edited too.

    sent: the refused form. The new form keeps what its user has edited; the other fields get the current values.
    """
    current = editing.state_of(benchmark)
    seen = sent.cleaned_data["seen"]
    data, theirs = request.POST.copy(), []
    for name in editing.changed_since(current, seen):
        if name not in sent.cleaned_data:
            continue
        if editing.mark(sent.cleaned_data[name]) == seen.get(name):
            data[name] = current[name]
        else:
            theirs.append((str(sent[name].label), current[name]))
    data["seen"] = json.dumps(editing.marks(current))
    return EditForm(data, benchmark=benchmark, by=request.user), theirs
