"""Page to submit a predictions file, with the remaining quota and the file format."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.core import saved
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, with_retry
from leaderboard.core.web.upload import check_upload
from leaderboard.models import Phase, Split, Submission, System, Team
from leaderboard.submissions.actions import idempotency, registrations
from leaderboard.submissions.actions import submit as submissions
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.web import prediction_format
from leaderboard.submissions.web.forms import SubmissionForm
from leaderboard.submissions.web.join import redirect_to_join
from leaderboard.submissions.web.quota_card import may_submit, quotas_of_person


class SentBeforeError(Exception):
    """The team has submitted the same file to the phase before, and the request does not confirm the repetition.

    earlier: the latest such submission. digest: the file's SHA-256.
    """

    def __init__(self, earlier: Submission, digest: str) -> None:
        super().__init__(digest)
        self.earlier = earlier
        self.digest = digest


@login_required
@require_http_methods(["GET", "POST"])
def submit(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form; a POST submits a predictions file, or shows why the file was refused and its problems.

    A form that is sent twice with the same file leads to the same submission. A file that the team has submitted to
    this phase before is submitted only if the POST confirms it: `again` is then the file's SHA-256. A POST with `check`
    only validates the file.
    """
    row = phase_or_404(request.user, slug, phase)
    if request.method == "GET":
        if not registrations.may_submit(row.benchmark, request.user):
            return redirect_to_join(request, row.benchmark)
        if not row.takes_predictions:
            messages.info(request, "This phase accepts container images, not predictions files.")
            return redirect("submit_image", slug, phase)
        initial = {"system": request.GET.get("system")}
        return _page(request, row, SubmissionForm(user=request.user, phase=row, initial=initial))
    form = SubmissionForm(request.POST, request.FILES, user=request.user, phase=row)
    try:
        check_upload(request)
        if "check" in request.POST:
            return _check(request, row)
        if not form.is_valid():
            return _page(request, row, form, status=422)
        return saved.keep(request, redirect(_submit(request, row, form)))
    except idempotency.RepeatedError as repeated:
        return redirect(repeated.submission)
    except SentBeforeError as sent:
        return _page(request, row, form, status=409, earlier=sent.earlier, digest=sent.digest)
    except Refused as refused:
        return _page(request, row, form, refused)


def _system(request: PersonRequest, form: dict[str, Any]) -> System:
    if form.get("system"):
        chosen: System = form["system"]
        return chosen
    return teams.find_system(team=form.get("team") or teams.of(request.user), name=form["new_system"])


def _submit(request: PersonRequest, phase: Phase, form: SubmissionForm) -> Submission:
    values = form.cleaned_data
    system, digest = _system(request, values), sha256_of(values["file"])

    def check() -> None:
        earlier = _latest_with(phase=phase, team=system.team, sha256=digest)
        if earlier is not None and request.POST.get("again") != digest:
            raise SentBeforeError(earlier, digest)

    entry = submissions.Entry(
        system=system, by=request.user, track=values.get("track", ""), note=values["note"], stated=form.stated
    )
    key = form.idempotency_key(digest)
    return submissions.submit(
        phase=phase, entry=entry, file=values["file"], check=check, idempotency_key=key
    ).submission


def _latest_with(*, phase: Phase, team: Team, sha256: str) -> Submission | None:
    """Return the team's latest submission to the phase of a predictions file with this digest; None if there is none.

    Refunded submissions do not count: for them the server failed, or the file was rejected.
    """
    same = Submission.objects.filter(phase=phase, system__team=team, kind=Submission.Kind.PREDICTIONS)
    same = same.filter(predictions__sha256=sha256, charge__refunded_at=None)
    return same.select_related("system").order_by("-received_at", "pk").first()


def _check(request: PersonRequest, phase: Phase) -> HttpResponse:
    """Validate the file in the POST and show the result above the form, which keeps its values. Submit nothing."""
    form = SubmissionForm(user=request.user, phase=phase, initial=request.POST.dict())
    file = request.FILES.get("file")
    try:
        if file is None:
            raise Refused(Code.NO_FILE, "No file was chosen.", heading="Choose a file to check")
        n_lines, warnings = submissions.check_file(phase=phase, file=file, by=request.user)
    except Refused as refused:
        return _page(request, phase, form, refused)
    return _page(request, phase, form, checked={"n_lines": n_lines, "warnings": warnings})


def _page(
    request: PersonRequest,
    phase: Phase,
    form: SubmissionForm,
    refused: Refused | None = None,
    status: int = 200,
    **result: Any,
) -> HttpResponse:
    """Render the page to submit a predictions file.

    refused: why the file was refused, shown above the form; None: it was not. result: further variables of the
    template: `checked` (result of a validation), or `earlier` and `digest` (of a SentBeforeError).
    """
    quotas = quotas_of_person(request.user, phase)
    visible = Split.objects.visible_to(request.user).filter(pk=phase.split_id).first()
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "task": TASKS[phase.benchmark.task],
        "format": prediction_format.format_of(phase.benchmark.task, visible),
        "form": form,
        "quotas": quotas,
        "own_time": deadlines.extensions_of(phase, request.user),
        "open": deadlines.is_open_to(phase, request.user),
        "may_submit": phase.takes_predictions and may_submit(phase, quotas, request.user),
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "now_mb": settings.VALIDATE_NOW_BYTES // 1_000_000,
        "refusal": Refusal(refused) if refused else None,
        **result,
    }
    response = render(request, "submissions/submit.html", context, status=refused.code.status if refused else status)
    return with_retry(response, refused)
