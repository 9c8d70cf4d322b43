"""Page that lists the submissions of the user's teams, with filters and the scores of each system over time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Phase, State, Submission, User
from leaderboard.submissions.queries import own_submissions, progress
from leaderboard.submissions.queries.own_submissions import ScoreHistory
from leaderboard.submissions.web.score_sheet import ShownScore, primary_of
from leaderboard.submissions.web.sparkline import Sparkline, sparkline

PER_PAGE = 25
MOST_PLOTTED = 200
"""Number of the latest submissions whose scores over time are shown."""
MOST_SYSTEMS = 10
"""Number of systems, the latest first, whose scores over time are shown; a filter leads to the others."""


class FilterForm(forms.Form):
    """Form to filter the list of submissions. phase: slug of a benchmark, or `BENCHMARK/PHASE` with both slugs."""

    phase = forms.ChoiceField(required=False, label="Benchmark and phase")
    state = forms.ChoiceField(
        required=False, choices=[("", "All states"), *((state.value, state.label.capitalize()) for state in State)]
    )
    search = forms.CharField(required=False, max_length=100, widget=forms.TextInput(attrs={"type": "search"}))

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = Submission.objects.of_teams_of(user).values("phase")
        groups: dict[str, list[tuple[str, str]]] = {}
        for phase in Phase.objects.filter(pk__in=own).select_related("benchmark"):
            slug, title = phase.benchmark.slug, phase.benchmark.title
            groups.setdefault(title, [(slug, f"{title}: all phases")]).append(
                (f"{slug}/{phase.slug}", f"{title}: {phase.title}")
            )
        field = self.fields["phase"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All benchmarks"), *sorted(groups.items())]

    def values(self) -> dict[str, str]:
        """Return the valid filters by name, as `own_submissions.filtered` takes them."""
        self.is_valid()
        cleaned = self.cleaned_data
        benchmark, _, phase = cleaned.get("phase", "").partition("/")
        values = {"benchmark": benchmark, "phase": phase, "state": cleaned.get("state", "")}
        return {**values, "search": cleaned.get("search", "")}


@login_required
@require_safe
def my_submissions(request: PersonRequest) -> HttpResponse:
    """List the submissions of the user's teams, the newest first, with state, revealed primary score and rank."""
    form = FilterForm(request.GET, user=request.user)
    rows = progress.with_related(own_submissions.filtered(request.user, **form.values()))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    listed = [progress.of(submission) for submission in page]
    ranks = own_submissions.ranks_of(row.submission.pk for row in listed)
    histories = own_submissions.histories([*map(progress.of, rows[:MOST_PLOTTED]), *listed])
    by_system = {(history.phase.pk, history.system.pk): history for history in histories}
    plotted = [history for history in histories if len(history.scored) > 1]
    query = {name: value for name in form.fields if (value := request.GET.get(name, ""))}
    context = {
        "page": page,
        "rows": [
            (
                row,
                primary_of([row.release] if row.release else []),
                ranks.get(row.submission.pk),
                by_system[row.submission.phase_id, row.submission.system_id],
            )
            for row in listed
        ],
        "histories": [_shown(history) for history in plotted[:MOST_SYSTEMS]],
        "n_unseen": max(0, len(plotted) - MOST_SYSTEMS),
        "best": {history.best.submission.pk for history in plotted if history.best},
        "form": form,
        "is_filtered": bool(query),
        "query": f"{urlencode(query)}&" if query else "",
    }
    return render(request, "submissions/my_submissions.html", context)


def _shown(history: ScoreHistory) -> tuple[ScoreHistory, ShownScore | None, Sparkline | None]:
    """Return (the history, its best score or None, its chart or None).

    There is no chart for fewer than two scores.
    """
    if history.best is None:
        return history, None, None
    best = primary_of([history.best.release] if history.best.release else [])
    return history, best, sparkline(history.values, history.scored.index(history.best))
