"""Pages on which a team describes its system and chooses the submission that represents it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Submission, System
from leaderboard.models.submission import systems_of_teams_of
from leaderboard.systems.actions import systems
from leaderboard.systems.web.forms import DescribeForm


def own_or_404(request: PersonRequest, pk: int) -> System:
    """Return the system with this primary key if it is one of the user's teams'. Raises Http404 for any other."""
    return get_object_or_404(systems_of_teams_of(request.user).select_related("team"), pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: PersonRequest, pk: int) -> HttpResponse:
    """Edit a system's description, links, BibTeX and anonymity."""
    system = own_or_404(request, pk)
    form = DescribeForm(request.POST or None, instance=system)
    refusal = None
    # The form modifies its instance during validation, so the action gets the stored row.
    if form.is_valid():
        try:
            systems.describe(
                system=own_or_404(request, pk),
                by=request.user,
                bibtex=form.cleaned_data["bibtex"],
                anonymous_until=form.cleaned_data["anonymous_until"],
                description=form.cleaned_data["description"],
                paper_url=form.cleaned_data["paper_url"],
                code_url=form.cleaned_data["code_url"],
                facts=form.stated,
            )
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The changes were saved.")
            return redirect("system", pk)
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return render(
        request, "systems/system_form.html", {"system": system, "form": form, "refusal": refusal}, status=status
    )


@login_required
@require_POST
def represent(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Let a submission of one of the user's teams represent its system on the boards of its phase."""
    submission = get_object_or_404(
        Submission.objects.of_teams_of(request.user).select_related("system", "phase"), pk=pk
    )
    try:
        systems.represent(submission=submission, by=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, "This submission represents the system on the board until you choose another.")
    return redirect("system", submission.system_id)


@login_required
@require_POST
def represent_by_best(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Remove the team's choice of a submission in this phase, so that the best one represents the system again."""
    system = own_or_404(request, pk)
    try:
        systems.represent_by_best(phase=phase_or_404(request.user, slug, phase), system=system, by=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, "The best submission represents the system on the board again.")
    return redirect("system", pk)
