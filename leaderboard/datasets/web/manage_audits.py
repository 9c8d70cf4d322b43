"""Management pages of a split's audit: start it, follow it, read its report, answer its findings.

The report quotes gold, so each view of the report is recorded in the audit trail, as each view of gold is.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import lifecycle
from leaderboard.datasets.queries import audit_results
from leaderboard.datasets.queries.audit_results import Finding
from leaderboard.datasets.web import manage_lifecycle, steps
from leaderboard.datasets.web.audit_finding_texts import describe
from leaderboard.datasets.web.audit_status_texts import audit_progress
from leaderboard.datasets.web.charts import audit as charts
from leaderboard.models import AuditAnswer, AuditEntry, Benchmark, SplitAudit, State, User


@login_required
@require_POST
def begin(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Queue an audit of the split's current gold."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    try:
        split_audits.begin(split=split_row, by=request.user)
    except Refused as refused:
        return manage_lifecycle.page(request, benchmark, split_row, Refusal(refused))
    return redirect("manage_split", slug, split)


@login_required
@require_POST
def cancel(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Cancel a queued or running audit."""
    benchmark, audit = _audit_or_404(request.user, slug, split, pk)
    try:
        split_audits.cancel(audit=audit, by=request.user)
    except Refused as refused:
        return manage_lifecycle.page(request, benchmark, audit.gold.split, Refusal(refused))
    messages.success(request, "The audit was cancelled.")
    return redirect("manage_split", slug, split)


@login_required
@require_safe
def state(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Render the progress of an audit; once the audit has ended the whole page is reloaded."""
    benchmark, audit = _audit_or_404(request.user, slug, split, pk)
    context = {"benchmark": benchmark, "split": audit.gold.split, "followed": audit_progress(audit)}
    answer = render(request, "datasets/manage_audit_state.html", context)
    if audit.is_over:
        answer["HX-Refresh"] = "true"
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def report(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Show the report of an audit with charts; a POST saves the answers to its findings."""
    benchmark, audit = _done_or_404(request.user, slug, split, pk)
    if request.method == "POST":
        try:
            n = _save_answers(request, audit)
        except Refused as refused:
            return _page(request, benchmark, audit, Refusal(refused))
        messages.success(request, f"{n} answer{'s' if n != 1 else ''} saved.")
        return redirect("manage_audit", slug, split, pk)
    return _page(request, benchmark, audit)


@login_required
@require_POST
def show(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Publish an audit of gold of a published split, with the answers to its findings."""
    benchmark, audit = _done_or_404(request.user, slug, split, pk)
    try:
        lifecycle.show_audit(audit=audit, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, audit, Refusal(refused))
    messages.success(request, "The audit and its answers are now public.")
    return redirect("manage_split", slug, split)


def _audit_or_404(user: User, slug: str, split: str, pk: int) -> tuple[Benchmark, SplitAudit]:
    benchmark, managed = managed_split_or_404(user, slug, split)
    audits = SplitAudit.objects.select_related("gold__split__dataset").filter(gold__split=managed)
    return benchmark, get_object_or_404(audits, pk=pk)


def _done_or_404(user: User, slug: str, split: str, pk: int) -> tuple[Benchmark, SplitAudit]:
    benchmark, audit = _audit_or_404(user, slug, split, pk)
    if audit.state != State.DONE:
        raise Http404(f"the audit is {audit.state}, so it has no report")
    return benchmark, audit


def _save_answers(request: PersonRequest, audit: SplitAudit) -> int:
    """Save the answers in the POST; return the number of findings of the audit that have an answer now.

    Raises Refused as `lifecycle.answer` does.
    """
    for finding in audit_results.findings(audit):
        text = request.POST.get(f"answer-{finding.index}")
        if text is not None:
            lifecycle.answer(audit=audit, finding=finding.index, text=text, by=request.user)
    return audit.answers.count()


def _page(
    request: PersonRequest, benchmark: Benchmark, audit: SplitAudit, refusal: Refusal | None = None
) -> HttpResponse:
    split, results = audit.gold.split, audit.report
    AuditEntry.record("audit.read", audit, by=request.user, split=split.name, gold=audit.gold.number)
    findings = audit_results.findings(audit)
    earlier = _earlier_answers(audit)
    may_answer = audit.accepted_at is None
    answerable = audit_results.TO_ANSWER if not split.is_draft else ("warning",)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "split": split,
        "audit": audit,
        "report": results,
        "trains": audit.trains.select_related("split").order_by("split", "pk"),
        "findings": [
            (
                finding,
                describe(finding.code),
                may_answer and finding.severity in answerable,
                _initial_text(request, finding, earlier),
            )
            for finding in findings
        ],
        "may_answer": may_answer and any(finding.severity in answerable for finding in findings),
        "waiting": [finding for finding in findings if finding.severity in answerable and finding.answer is None],
        "balance": charts.balance(results["balance"]),
        "widths": charts.widths(results["sizes"]),
        "overlaps": charts.overlaps(results["overlaps"]),
        "overlap_levels": [(kind, name) for kind, (_, name) in enumerate(charts.LEVELS, start=1)],
        "examples": [
            (finding, describe(finding.code)) for finding in findings if finding.entry["numbers"].get("texts")
        ],
        "cues": _cues(results["cues"]),
        "refusal": refusal,
        "steps": steps.steps_of_split(benchmark, split),
    }
    return render(request, "datasets/manage_audit.html", context, status=refusal.status if refusal else 200)


def _initial_text(request: PersonRequest, finding: Finding, earlier: dict[str, str]) -> str:
    """Return the initial text of the form field for the answer to a finding.

    It is the text in the POST, which was refused; else the stored answer; else the text for the finding's code in
    `earlier` (a result of `_earlier_answers`); else empty.
    """
    stored = finding.answer.text if finding.answer else earlier.get(finding.code, "")
    return request.POST.get(f"answer-{finding.index}", stored)


def _earlier_answers(audit: SplitAudit) -> dict[str, str]:
    """Return the latest answer to each code of findings in the split's other audits, by code.

    The page offers these texts as drafts, which a manager reviews before saving.
    """
    rows = (
        AuditAnswer.objects.filter(audit__gold__split=audit.gold.split_id).exclude(audit=audit).select_related("audit")
    )
    texts: dict[str, str] = {}
    for row in rows.order_by("at"):
        texts[row.audit.report["findings"][row.finding]["code"]] = row.text
    return texts


def _cues(cues: dict[str, Any] | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (label, rows) for each label of the split: a row for each of the n-grams that predict the label best.

    N-grams that do not point to the label (`lmi` of 0 or less) are left out. cues: the value of `cues` in the audit's
    report; None gives an empty list. `lmi` in a returned row is the local mutual information of n-gram and label, in
    millionths of a nat.
    """
    if not cues:
        return []
    return [
        (label, [{**row, "lmi": 1e6 * row["lmi"]} for row in rows if row["lmi"] > 0])
        for label, rows in cues["split"].items()
    ]
