"""Management page of a benchmark's participants: who may submit, registrations of teams, agreements to the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, add_to
from leaderboard.models import Bar, Benchmark, Registration, Team
from leaderboard.submissions.actions import registrations

PER_PAGE = 50


class AccessForm(forms.Form):
    """Form to choose who may submit, and whether participants must first agree to the rules."""

    access = forms.ChoiceField(
        label="Who may submit",
        widget=forms.RadioSelect,
        choices=[
            (Benchmark.Access.OPEN, "Everybody with an account"),
            (Benchmark.Access.APPROVAL, "Registered teams: each team asks, and you approve or decline"),
            (Benchmark.Access.INVITED, "Invited teams: only they can see the benchmark; it is not listed"),
        ],
    )
    asks_agreement = forms.BooleanField(
        required=False,
        label="Participants agree to the rules before they submit",
        help_text="After a change of the rules they are asked again.",
    )


class TeamForm(forms.Form):
    """Form to name a team, to register it without a request or to bar it."""

    team = forms.CharField(max_length=100, label="Team", help_text="The team's name, as shown on leaderboards.")

    def clean_team(self) -> Team:
        name = self.cleaned_data["team"]
        team = Team.objects.filter(name__iexact=name).first()
        if team is None:
            raise forms.ValidationError(f"No team is called {name}; expected a team's name.")
        return team


@login_required
@require_http_methods(["GET", "POST"])
def participants(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the page; a POST saves who may submit and whether participants must agree to the rules."""
    benchmark = managed_or_404(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark)
    form = AccessForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, access_form=form, status=422)
    try:
        registrations.set_access(benchmark=benchmark, by=request.user, **form.cleaned_data)
    except Refused as refused:
        refusal = add_to(form, refused)
        return _page(request, benchmark, access_form=form, refusal=refusal, status=refused.code.status)
    messages.success(request, "Saved.")
    return redirect("manage_participants", slug)


@login_required
@require_POST
def invite(request: PersonRequest, slug: str) -> HttpResponse:
    """Register a team by its name."""
    benchmark = managed_or_404(request.user, slug)
    form = TeamForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, invite_form=form, status=422)
    team = form.cleaned_data["team"]
    return _do(
        request,
        benchmark,
        lambda: registrations.invite(benchmark=benchmark, team=team, by=request.user),
        f"{team} is registered.",
    )


@login_required
@require_POST
def bar(request: PersonRequest, slug: str) -> HttpResponse:
    """Bar a team, by its name, and its members."""
    benchmark = managed_or_404(request.user, slug)
    form = TeamForm(request.POST, auto_id="bar_%s")
    if not form.is_valid():
        return _page(request, benchmark, bar_form=form, status=422)
    team = form.cleaned_data["team"]
    registrations.bar(benchmark=benchmark, team=team, by=request.user)
    messages.success(request, f"{team} can no longer submit.")
    return redirect("manage_participants", slug)


@login_required
@require_POST
def lift_bar(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Let a barred team and its people submit again."""
    row = get_object_or_404(Bar, benchmark=managed_or_404(request.user, slug), pk=pk)
    registrations.lift(bar=row, by=request.user)
    messages.success(request, f"{row.team_name} can submit again.")
    return redirect("manage_participants", slug)


@login_required
@require_POST
def decide(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Approve the registration of a team if the POST's `decision` is `approve`; decline it otherwise."""
    benchmark = managed_or_404(request.user, slug)
    row = get_object_or_404(Registration.objects.select_related("team"), benchmark=benchmark, pk=pk)
    approve = request.POST.get("decision") == "approve"
    return _do(
        request,
        benchmark,
        lambda: registrations.decide(benchmark=benchmark, team=row.team, approve=approve, by=request.user),
        f"{row.team} is registered." if approve else f"{row.team} is not registered.",
    )


def _do(request: PersonRequest, benchmark: Benchmark, work: Callable[[], object], message: str) -> HttpResponse:
    """Call `work` and return to the page with the message; if it is refused, show the page with the refusal."""
    try:
        work()
    except Refused as refused:
        return _page(request, benchmark, refusal=Refusal(refused), status=refused.code.status)
    messages.success(request, message)
    return redirect("manage_participants", benchmark.slug)


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    *,
    access_form: AccessForm | None = None,
    invite_form: TeamForm | None = None,
    bar_form: TeamForm | None = None,
    refusal: Refusal | None = None,
    status: int = 200,
) -> HttpResponse:
    rows = benchmark.registrations.select_related("team", "requested_by", "decided_by")
    current: dict[str, Any] = {name: getattr(benchmark, name) for name in ("access", "asks_agreement")}
    agreements = benchmark.agreements.select_related("user")
    context = {
        "benchmark": benchmark,
        "access_form": access_form or AccessForm(initial=current),
        "invite_form": invite_form or TeamForm(),
        "bar_form": bar_form or TeamForm(auto_id="bar_%s"),
        "bars": benchmark.bars.select_related("team", "barred_by").prefetch_related("people"),
        "barred": set(benchmark.bars.values_list("team", flat=True)),
        "waiting": rows.filter(state=Registration.State.REQUESTED).order_by("requested_at"),
        "decided": rows.exclude(state=Registration.State.REQUESTED).order_by("state", "team__name"),
        "page": Paginator(agreements, PER_PAGE).get_page(request.GET.get("page")),
        "refusal": refusal,
    }
    return render(request, "submissions/manage_participants.html", context, status=status)
