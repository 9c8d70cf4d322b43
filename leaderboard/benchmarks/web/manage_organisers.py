"""Management page of a benchmark's organisers."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.benchmarks.actions import organisers as actions
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required, reauthentication_required_to_change
from leaderboard.core.web.refusals import Refusal, add_to
from leaderboard.models import Benchmark


class OrganiserForm(forms.Form):
    """Form to add an organiser."""

    username = forms.CharField(
        max_length=150,
        label="Username",
        widget=forms.TextInput({"spellcheck": "false", "autocapitalize": "none", "autocomplete": "off"}),
    )


@login_required
@require_http_methods(["GET", "POST"])
@reauthentication_required_to_change
def organisers(request: PersonRequest, slug: str) -> HttpResponse:
    """List the organisers; a POST adds one."""
    benchmark = managed_or_404(request.user, slug)
    form = OrganiserForm(request.POST or None)
    if form.is_valid():
        try:
            user = actions.add(benchmark=benchmark, username=form.cleaned_data["username"], by=request.user)
        except Refused as refused:
            return _page(request, benchmark, form, add_to(form, refused), refused.code.status)
        messages.success(request, f"{user} is an organiser.")
        return redirect("manage_organisers", slug)
    return _page(request, benchmark, form, status=422 if request.method == "POST" else 200)


@login_required
@require_POST
@reauthentication_required
def remove(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Remove an organiser. Organisers who remove themselves no longer manage the benchmark."""
    benchmark = managed_or_404(request.user, slug)
    user = get_object_or_404(benchmark.organisers, pk=pk)
    try:
        actions.remove(benchmark=benchmark, user=user, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, OrganiserForm(), Refusal(refused), refused.code.status)
    messages.success(request, f"{user} is no longer an organiser.")
    saved.keep(request, redirect("home"))
    if benchmark.is_managed_by(request.user):
        return redirect("manage_organisers", slug)
    return redirect("home")


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    form: OrganiserForm,
    refusal: Refusal | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "form": form,
        "refusal": refusal,
        "organisers": benchmark.organisers.order_by("username"),
    }
    return render(request, "benchmarks/manage_organisers.html", context, status=status)
