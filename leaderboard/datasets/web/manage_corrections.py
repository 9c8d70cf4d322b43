"""Management pages of a pending correction of gold: review its changes, then confirm or drop it.

The numbers of changed items reveal no answer. The page that lists these items does, so each view of that page is
recorded as a view of gold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evaluator.curation.gold_diff import KINDS
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.core.web.refusals import Refusal
from leaderboard.datasets.actions import corrections
from leaderboard.datasets.web.forms import ConfirmForm
from leaderboard.models import AuditEntry, Benchmark, ChangedItem, Correction, Phase, Reason, State, User

ASK_AGAIN = 1000
"""Interval in milliseconds after which the page asks for the progress again."""
A_PAGE = 50
LONGEST = 1500
"""Maximum number of characters shown of the value before a change, and of the value after it."""
WORDS = {
    "added": "added",
    "removed": "removed",
    "question": "changed question",
    "answer": "changed answer",
    "system": "changed system",
    "group": "changed group",
    "slices": "changed slices",
    "other": "changed notation",
}
CONSEQUENCES = {
    "added": "Not allowed: a published split cannot get new items.",
    "removed": "Not allowed: a published split cannot lose items.",
    "question": "The public inputs would change.",
    "answer": "Scores may change.",
    "system": "Measures within systems may change.",
    "group": "Intervals may change.",
    "slices": "Scores of slices may change.",
    "other": "Scores do not change.",
}


@login_required
@require_safe
def correction(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Show how much the correction changes, and the forms to confirm or drop it."""
    benchmark, row = _correction(request.user, slug, split, pk)
    return _page(request, benchmark, row)


@login_required
@require_safe
def state(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Render the progress of the comparison; once it has ended the whole page is reloaded."""
    benchmark, row = _correction(request.user, slug, split, pk)
    answer = render(request, "datasets/manage_correction_state.html", _followed(benchmark, row))
    if row.is_over:
        answer["HX-Refresh"] = "true"
    return answer


@login_required
@require_safe
@reauthentication_required
def items(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Show a page of the changed items; `?kind=` filters by kind of change. Each view is recorded as a view of gold.

    Raises Http404 if the comparison is not complete, or if the correction was dropped or has expired.
    """
    benchmark, correction_row = _correction(request.user, slug, split, pk)
    if correction_row.state != State.DONE or correction_row.decision in (
        Correction.Decision.DROPPED,
        Correction.Decision.EXPIRED,
    ):
        raise Http404("the comparison is not complete, or the correction was dropped or has expired")
    kind = request.GET.get("kind", "")
    rows = correction_row.items.all()
    if kind in KINDS:
        rows = rows.filter(kinds__contains=f"|{kind}|")
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    details = {"number": correction_row.base.number, "correction": correction_row.pk, "page": page.number}
    details["items"] = len(page)
    AuditEntry.record("gold.read", correction_row.base, by=request.user, **details)
    context = {
        "benchmark": benchmark,
        "split": correction_row.split,
        "correction": correction_row,
        "kind": kind if kind in KINDS else "",
        "kinds": [kind for kind in _kinds(correction_row) if kind.n],
        "page": page,
        "items": [(row, [WORDS[one] for one in row.kinds.strip("|").split("|")], _changes(row)) for row in page],
    }
    return render(request, "datasets/manage_correction_items.html", context)


@login_required
@require_POST
def confirm(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Confirm the correction, which becomes the split's next gold version."""
    benchmark, row = _correction(request.user, slug, split, pk)
    form = ConfirmForm(request.POST, split=row.split)
    if not form.is_valid():
        return _page(request, benchmark, row, form=form)
    filled = {"publishes_count": False, **form.cleaned_data}
    try:
        gold = corrections.confirm(correction=row, by=request.user, **filled)
    except Refused as refused:
        return _page(request, benchmark, row, form=form, refusal=Refusal(refused))
    messages.success(request, f"Gold version {gold.number} of {split} was added.")
    saved.keep(request, redirect("manage_gold", slug, split))
    phases = [phase for phase, _ in _rescored(row) if phase.benchmark_id == benchmark.pk]
    if len(phases) == 1:
        return redirect("manage_rescoring", slug, phases[0].slug)
    return redirect("manage_gold", slug, split)


@login_required
@require_POST
def drop(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Drop the correction, which then has no effect."""
    benchmark, row = _correction(request.user, slug, split, pk)
    try:
        corrections.drop(correction=row, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, row, refusal=Refusal(refused))
    messages.success(request, "The correction was dropped and has no effect.")
    return redirect("manage_gold", slug, split)


def _correction(user: User, slug: str, split: str, pk: int) -> tuple[Benchmark, Correction]:
    benchmark, split_row = managed_split_or_404(user, slug, split)
    rows = Correction.objects.select_related("base", "gold", "split__dataset", "created_by", "decided_by")
    return benchmark, get_object_or_404(rows.filter(split=split_row), pk=pk)


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    row: Correction,
    *,
    form: ConfirmForm | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    row.refresh_from_db()
    context = {
        **_followed(benchmark, row),
        "number": row.base.number + 1,
        "kinds": _kinds(row),
        "why_not": corrections.why_not_confirmed(row),
        "rescored": _visible_phases(_rescored(row), benchmark, request.user),
        "form": form or ConfirmForm(split=row.split),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form is not None else 200
    return render(request, "datasets/manage_correction.html", context, status=status)


def _followed(benchmark: Benchmark, row: Correction) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "split": row.split,
        "correction": row,
        "why": Reason(row.reason).label if row.reason else "",
        "ask_again": None if row.is_over else ASK_AGAIN,
    }


class KindOfChange(NamedTuple):
    """A kind of change, with its name and its consequence as texts for the page, and the number of items with it."""

    kind: str
    name: str
    consequence: str
    n: int


def _kinds(row: Correction) -> list[KindOfChange]:
    counted = row.counts.get("by_kind", {})
    return [KindOfChange(kind, WORDS[kind], CONSEQUENCES[kind], counted.get(kind, 0)) for kind in KINDS]


def _rescored(row: Correction) -> list[tuple[Phase, int]]:
    """Return (phase, number of predictions to rescore) for each phase on the split that has predictions.

    The phases may belong to several benchmarks.
    """
    phases = row.split.phases.select_related("benchmark", "split").order_by("benchmark__title", "pk")
    return [(phase, n) for phase in phases if (n := board_state.predictions_to_score(phase).count())]


def _visible_phases(phases: Sequence[tuple[Phase, int]], ours: Benchmark, by: User) -> list[tuple[Phase | None, int]]:
    """Return (phase, number of predictions to rescore), with the phases of the benchmark `ours` first.

    Phases of benchmarks that the user `by` may not see are merged into one last row with None as its phase.
    """
    phases = sorted(phases, key=lambda row: row[0].benchmark_id != ours.pk)
    visible: list[tuple[Phase | None, int]] = []
    hidden = 0
    for phase, n in phases:
        if phase.benchmark.is_visible_to(by):
            visible.append((phase, n))
        else:
            hidden += n
    return [*visible, (None, hidden)] if hidden else visible


def _changes(row: ChangedItem) -> list[tuple[str, str | None, str | None]]:
    """Return (field, value before, value after), as text, for each changed field of an item.

    A value is None if the field had or has none.
    """
    return [(change["field"], _format(change["before"]), _format(change["after"])) for change in row.changes]


def _format(value: Any) -> str | None:
    """Format a JSON value: text unchanged, a list as JSON with one item per line, any other value as JSON.

    The result is truncated to LONGEST characters; `(none)` for an empty list; None stays None.
    """
    if value is None:
        return None
    if isinstance(value, list):
        text = "\n".join(json.dumps(item, ensure_ascii=False) for item in value) or "(none)"
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
