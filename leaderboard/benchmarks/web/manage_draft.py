"""Management page of a draft: its testers, and *Reset*, which deletes all that was tried on it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.benchmarks.actions import draft as actions
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, add_to
from leaderboard.models import Benchmark, Submission, User

MOST_NAMES = 100


class TestersForm(forms.Form):
    """Form for the testers of a draft: usernames and team names, one per line."""

    testers = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        label="Testers",
        help_text="Usernames or team names, one per line. A team stands for those who are its members now.",
    )

    def clean_testers(self) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data["testers"].splitlines())
        names = list(dict.fromkeys(line for line in lines if line))
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(f"There are {len(names)} names; expected at most {MOST_NAMES}.")
        return names


class ResetForm(forms.Form):
    """Form to confirm that everything tried on a draft is deleted."""

    sure = forms.BooleanField(
        label="Delete all submissions to this draft",
        error_messages={"required": "Tick this box to delete them."},
    )


@login_required
@require_http_methods(["GET", "POST"])
def draft(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the testers of a draft, and what was submitted to it; a POST replaces the testers."""
    benchmark = _draft_or_404(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark)
    form = TestersForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, testers_form=form)
    try:
        testers = actions.find_testers(form.cleaned_data["testers"])
        actions.set_testers(benchmark=benchmark, testers=testers, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, add_to(form, refused), testers_form=form, status=refused.code.status)
    messages.success(request, f"{len(testers)} tester{'s' if len(testers) != 1 else ''} saved.")
    return redirect("manage_draft", slug)


@login_required
@require_POST
def reset(request: PersonRequest, slug: str) -> HttpResponse:
    """Delete all that was tried on a draft."""
    benchmark = _draft_or_404(request.user, slug)
    form = ResetForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, reset_form=form)
    try:
        n_deleted = actions.reset(benchmark=benchmark, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, Refusal(refused), reset_form=form, status=refused.code.status)
    messages.success(request, f"The draft is empty: {n_deleted} submission{'s' if n_deleted != 1 else ''} deleted.")
    return redirect("manage_draft", slug)


def _draft_or_404(user: User, slug: str) -> Benchmark:
    benchmark = managed_or_404(user, slug)
    if not benchmark.is_draft:
        raise Http404("a published benchmark has no testers")
    return benchmark


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    refusal: Refusal | None = None,
    *,
    testers_form: TestersForm | None = None,
    reset_form: ResetForm | None = None,
    status: int | None = None,
) -> HttpResponse:
    testers = "\n".join(benchmark.testers.order_by("username").values_list("username", flat=True))
    is_invalid = testers_form is not None or reset_form is not None
    context = {
        "benchmark": benchmark,
        "testers_form": testers_form or TestersForm(initial={"testers": testers}),
        "reset_form": reset_form or ResetForm(),
        "n_submissions": Submission.objects.filter(phase__benchmark=benchmark).count(),
        "hides_gold": benchmark.phases.filter(split__gold_public=False).exists(),
        "refusal": refusal,
    }
    return render(request, "benchmarks/manage_draft.html", context, status=status or (422 if is_invalid else 200))
