"""Management pages of a benchmark's announcements and of its public contact."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.benchmarks.actions import announcements as actions
from leaderboard.benchmarks.web.forms.announcement import AnnouncementForm, ContactForm
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
def announcements(request: PersonRequest, slug: str) -> HttpResponse:
    """List a benchmark's announcements; a POST publishes another announcement."""
    benchmark = managed_or_404(request.user, slug)
    form, refusal = AnnouncementForm(request.POST or None), None
    if form.is_valid():
        try:
            actions.announce(benchmark=benchmark, by=request.user, **form.cleaned_data)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The announcement was published.")
            return redirect("manage_announcements", slug)
    context = {
        "benchmark": benchmark,
        "form": form,
        "refusal": refusal,
        "announcements": benchmark.announcements.select_related("created_by"),
        "mails": settings.NOTIFICATIONS and benchmark.is_published,
    }
    return render(request, "benchmarks/manage_announcements.html", context, status=_status(request, form, refusal))


@login_required
@require_POST
def take_back(request: PersonRequest, slug: str, pk: UUID) -> HttpResponse:
    benchmark = managed_or_404(request.user, slug)
    announcement = get_object_or_404(benchmark.announcements.select_related("benchmark"), pk=pk)
    actions.take_back(announcement=announcement, by=request.user)
    messages.success(request, "The announcement was withdrawn.")
    return redirect("manage_announcements", slug)


@login_required
@require_http_methods(["GET", "POST"])
def contact(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form of a benchmark's public contact; a POST saves it."""
    benchmark = managed_or_404(request.user, slug)
    form, refusal = ContactForm(request.POST or None, initial={"contact": benchmark.contact}), None
    if form.is_valid():
        try:
            actions.set_contact(benchmark=benchmark, contact=form.cleaned_data["contact"], by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The contact was saved.")
            return redirect("manage_benchmark", slug)
    context = {"benchmark": benchmark, "form": form, "refusal": refusal}
    return render(request, "benchmarks/manage_contact.html", context, status=_status(request, form, refusal))


def _status(request: PersonRequest, form: AnnouncementForm | ContactForm, refusal: Refusal | None) -> int:
    if refusal:
        return refusal.status
    return 422 if form.errors or request.method == "POST" else 200
