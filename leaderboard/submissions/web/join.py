"""Page on which participants agree to a benchmark's rules and register their team."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Bar, Benchmark, RulesAgreement, Team, User
from leaderboard.submissions.actions import registrations


class JoinForm(forms.Form):
    """Form to agree to a benchmark's rules and to register a team. It has only the fields that the user still needs."""

    agrees = forms.BooleanField(
        label="I agree to these rules", error_messages={"required": "Tick this box to agree to the rules."}
    )
    rules_sha256 = forms.CharField(widget=forms.HiddenInput)
    team = forms.ModelChoiceField(Team.objects.none(), empty_label=None)
    message = forms.CharField(
        max_length=registrations.LONGEST_MESSAGE,
        required=False,
        widget=forms.Textarea({"rows": 3}),
        label="Message to the organisers",
        help_text="Who you are, and what you plan to submit. Only the organisers read it.",
    )

    def __init__(self, data: Mapping[str, Any] | None, *, benchmark: Benchmark, user: User) -> None:
        super().__init__(data, initial={"rules_sha256": benchmark.rules_sha256})
        if registrations.has_agreed(benchmark, user):
            del self.fields["agrees"], self.fields["rules_sha256"]
        unregistered = user.teams.exclude(registrations__benchmark=benchmark).order_by("membership__id")
        is_registered = user.teams.filter(registrations__benchmark=benchmark).exists()
        if benchmark.access != Benchmark.Access.APPROVAL or (is_registered and not unregistered):
            del self.fields["team"], self.fields["message"]
        elif not unregistered:
            del self.fields["team"]  # the user's first team is created on request
        else:
            self.fields["team"].queryset = unregistered  # type: ignore[attr-defined]
            self.fields["team"].required = not is_registered
            if is_registered:
                self.fields["team"].empty_label = "No other team"  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "POST"])
def join(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the rules and the registrations of the user's teams.

    A POST agrees to the rules and, where organisers approve teams, asks the organisers to register a team. Once the
    user may submit, the response redirects to the URL in `?next=`, or to the benchmark's page.
    """
    benchmark = benchmark_or_404(request.user, slug)
    form = JoinForm(request.POST or None, benchmark=benchmark, user=request.user)
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            has_asked = _join(benchmark, form, request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The organisers will answer your registration." if has_asked else "Saved.")
            saved.keep(request, redirect(benchmark.get_absolute_url()))
            if registrations.may_submit(benchmark, request.user):
                return redirect(_next(request) or benchmark.get_absolute_url())
            return redirect_to_join(request, benchmark)
    rows = benchmark.registrations.filter(team__members=request.user).select_related("team").order_by("team__name")
    agreement = RulesAgreement.objects.filter(
        benchmark=benchmark, user=request.user, rules_sha256=benchmark.rules_sha256
    ).first()
    context = {
        "benchmark": benchmark,
        "form": form,
        "agreement": agreement,
        "has_agreed_before": benchmark.agreements.filter(user=request.user).exists(),
        "registrations": rows,
        "may_submit": registrations.may_submit(benchmark, request.user),
        "is_barred": Bar.objects.against(benchmark=benchmark, team=None, user=request.user).exists(),
        "next": _next(request),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if request.method == "POST" else 200
    return render(request, "submissions/join.html", context, status=status)


def redirect_to_join(request: PersonRequest, benchmark: Benchmark) -> HttpResponseRedirect:
    """Return a redirect to the page `join`, with the URL to which the user is sent back afterwards.

    That is the URL in the request's parameter `next`, or else the requested page if the request is a GET.
    """
    target = _next(request) or (request.get_full_path() if request.method == "GET" else "")
    query = f"?{urlencode({'next': target})}" if target else ""
    return HttpResponseRedirect(reverse("join", args=[benchmark.slug]) + query)


def _join(benchmark: Benchmark, form: JoinForm, by: User) -> bool:
    """Save the user's agreement to the rules and request the registration of a team, as far as the form asks for them.

    Returns True if a registration was requested. Raises Refused as the functions of `registrations` do.
    """
    data = form.cleaned_data
    if "rules_sha256" in data:
        registrations.agree(benchmark=benchmark, rules_sha256=data["rules_sha256"], by=by)
    if "message" not in data:
        return False
    team = data.get("team") if "team" in form.fields else teams.of(by)
    if team is not None:
        registrations.request(benchmark=benchmark, team=team, message=data["message"], by=by)
    return team is not None


def _next(request: PersonRequest) -> str:
    """Return the URL in the request's parameter `next` if it is on this site, otherwise an empty text."""
    target = request.GET.get("next", "")
    return target if url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure()) else ""
