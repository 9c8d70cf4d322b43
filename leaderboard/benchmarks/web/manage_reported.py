"""Management page of a benchmark's reported results: rows copied from papers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.boards.queries.reported_results import left_out
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import add_to
from leaderboard.models import Benchmark, ReportedResult
from leaderboard.models.reported_numbers import EXAMPLE


class ReportedForm(forms.ModelForm):
    """Form to add a reported result."""

    values = forms.JSONField(
        label="Numbers",
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text=f"JSON, as in benchmark.json: {EXAMPLE}. The value is in the unit of the measure.",
    )
    track = forms.ChoiceField(required=False)

    class Meta:
        model = ReportedResult
        fields = ("system", "paper", "table", "split", "same_split", "values", "track", "note")

    def __init__(self, data: Any, *, benchmark: Benchmark) -> None:
        super().__init__(data, instance=ReportedResult(benchmark=benchmark))
        tracks = {track["name"]: track["title"] for phase in benchmark.phases.all() for track in phase.tracks}
        self.fields["track"].choices = [("", "none"), *tracks.items()]  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "POST"])
def reported(request: PersonRequest, slug: str) -> HttpResponse:
    """List the reported results of a benchmark; a POST adds one."""
    benchmark = managed_or_404(request.user, slug)
    form = ReportedForm(request.POST if request.method == "POST" else None, benchmark=benchmark)
    refusal, status = None, 422 if form.is_bound else 200
    if form.is_valid():
        try:
            row = benchmarks.add_reported(row=form.instance, by=request.user)
        except Refused as refused:
            refusal, status = add_to(form, refused), refused.code.status
        else:
            messages.success(request, f"{row} was added.")
            return redirect("manage_reported", slug)
    context = {
        "benchmark": benchmark,
        "form": form,
        "refusal": refusal,
        "rows": benchmark.reported_results.defer("values"),  # they may be JSON that cannot be read
        "left_out": left_out(benchmark),
    }
    return render(request, "benchmarks/manage_reported.html", context, status=status)


@login_required
@require_POST
def remove(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Remove a reported result."""
    benchmark = managed_or_404(request.user, slug)
    row = get_object_or_404(benchmark.reported_results.select_related("benchmark").defer("values"), pk=pk)
    benchmarks.remove_reported(row=row, by=request.user)
    messages.success(request, f"{row} was removed.")
    return redirect("manage_reported", slug)
