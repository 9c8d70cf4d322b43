"""Page on which organisers manage the tracks of a phase."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.boards.actions import tracks
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.boards.web.forms.tracks import TracksForm, as_lines
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
def manage_tracks(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form with the tracks of a phase; save them on POST."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    form = TracksForm(request.POST if request.method == "POST" else None, initial={"tracks": as_lines(phase_row)})
    refusal = None
    if form.is_valid():
        try:
            tracks.change(phase=phase_row, new_tracks=form.cleaned_data["tracks"], by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The tracks were saved.")
            return redirect("manage_benchmark", slug)
    status = refusal.status if refusal else 422 if form.errors else 200
    context = {"benchmark": phase_row.benchmark, "phase": phase_row, "form": form, "refusal": refusal}
    context["has_submissions"] = phase_row.submissions.exists()
    return render(request, "boards/manage_tracks.html", context, status=status)
