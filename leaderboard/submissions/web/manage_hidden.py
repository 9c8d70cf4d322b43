"""Management pages to hide submissions from the boards, show them again, and list hidden ones."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import HiddenSubmission, Submission
from leaderboard.submissions.actions import hide
from leaderboard.submissions.web.forms import HideForm

PER_PAGE = 50


@login_required
@require_safe
def manage_hidden(request: PersonRequest, slug: str) -> HttpResponse:
    """List the submissions of the benchmark that are or were hidden, the latest first."""
    benchmark = managed_or_404(request.user, slug)
    rows = HiddenSubmission.objects.filter(submission__phase__benchmark=benchmark).select_related(
        "submission__system__team", "submission__phase", "hidden_by", "unhidden_by"
    )
    context = {"benchmark": benchmark, "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))}
    return render(request, "submissions/manage_hidden.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def hide_submission(request: PersonRequest, slug: str, pk: UUID) -> HttpResponse:
    """Show the form for the reason; a POST hides the submission, or changes the reason if it is hidden already."""
    submission = _managed_or_404(request, slug, pk)
    hidden = submission.hidings.now().filter(by_team=False).select_related("hidden_by").first()
    form = HideForm(request.POST or None, initial={"reason": hidden.reason if hidden else ""})
    refusal = None
    if form.is_valid():
        try:
            hide.hide(submission=submission, reason=form.cleaned_data["reason"], by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The submission is hidden from all boards of its phase.")
            return redirect(submission)
    context = {
        "benchmark": submission.phase.benchmark,
        "phase": submission.phase,
        "submission": submission,
        "hidden": hidden,
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return render(request, "submissions/manage_hide.html", context, status=status)


@login_required
@require_POST
def unhide_submission(request: PersonRequest, slug: str, pk: UUID) -> HttpResponse:
    """Show a hidden submission again."""
    submission = _managed_or_404(request, slug, pk)
    if hide.unhide(submission=submission, by=request.user):
        messages.success(request, "The submission is shown again.")
    else:
        messages.info(request, "The submission was not hidden.")
    return redirect(submission)


@login_required
@require_POST
def teams_may_hide(request: PersonRequest, slug: str) -> HttpResponse:
    """Allow teams to take their own submissions off the board (`allowed=yes`), or forbid it."""
    allowed = request.POST.get("allowed") == "yes"
    hide.set_teams_may_hide(benchmark=managed_or_404(request.user, slug), allowed=allowed, by=request.user)
    messages.success(request, f"Teams {'may' if allowed else 'may no longer'} take submissions off the board.")
    return redirect("manage_hidden", slug)


def _managed_or_404(request: PersonRequest, slug: str, pk: UUID) -> Submission:
    """Return a submission to a benchmark that the user manages. Raises Http404 for any other."""
    rows = Submission.objects.select_related("system__team", "phase__benchmark")
    return get_object_or_404(rows, pk=pk, phase__benchmark=managed_or_404(request.user, slug))
