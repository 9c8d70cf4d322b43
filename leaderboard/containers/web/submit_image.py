"""Submission page for container images, with the container's inputs and limits, and unfinished uploads."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.containers.actions import image_uploads, images
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.uploads import sha256_of
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, with_retry
from leaderboard.core.web.upload import check_upload
from leaderboard.evaluation import container_limits, container_limits_text
from leaderboard.models import ImageUpload, Phase, Submission
from leaderboard.submissions.actions import idempotency, registrations
from leaderboard.submissions.actions.submit import Entry
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.web.forms import ImageForm
from leaderboard.submissions.web.join import redirect_to_join
from leaderboard.submissions.web.quota_card import may_submit, quotas_of_person
from leaderboard.work_queue import worker_status


@login_required
@require_http_methods(["GET", "POST"])
def submit_image(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form to submit a container image to a phase; a POST submits one.

    The image is an archive, a chunked upload (`upload`) or a registry reference. slug, phase: short names of the
    benchmark and its phase.
    """
    row = phase_or_404(request.user, slug, phase)
    if request.method == "GET":
        if not registrations.may_submit(row.benchmark, request.user):
            return redirect_to_join(request, row.benchmark)
        if not row.takes_images:
            messages.info(request, "This phase accepts predictions files, not container images.")
            return redirect("submit", slug, phase)
        initial = {name: request.GET.get(name) for name in ("system", "upload")}
        return _page(request, row, ImageForm(user=request.user, phase=row, initial=initial))
    form = ImageForm(request.POST, request.FILES, user=request.user, phase=row)
    try:
        check_upload(request)
        if not form.is_valid():
            # The first request with this form has deleted its upload.
            earlier = idempotency.submission_with(form.idempotency_key(), request.user)
            return redirect(earlier) if earlier else _page(request, row, form, status=422)
        return saved.keep(request, redirect(_submit(request, row, form)))
    except idempotency.RepeatedError as repeated:
        return redirect(repeated.submission)
    except Refused as refused:
        return _page(request, row, form, refused)


@login_required
@require_POST
def give_up(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Discard one of the user's image uploads that has not been submitted. pk: the upload's."""
    upload = get_object_or_404(ImageUpload.objects.select_related("phase__benchmark"), pk=pk, by=request.user)
    phase, benchmark = upload.phase, upload.benchmark
    image_uploads.discard(upload)
    messages.success(request, f"The upload of {upload.name} was cancelled.")
    if phase is None:
        return redirect("manage_scorers", benchmark.slug) if benchmark else redirect("home")
    return redirect("submit_image", phase.benchmark.slug, phase.slug)


def _submit(request: PersonRequest, phase: Phase, form: ImageForm) -> Submission:
    values = form.cleaned_data
    system = values.get("system") or teams.find_system(
        team=values.get("team") or teams.of(request.user), name=values["new_system"]
    )
    entry = Entry(
        system=system, by=request.user, track=values.get("track", ""), note=values["note"], stated=form.stated
    )
    key = form.idempotency_key(sha256_of(values["file"]) if values.get("file") else "")
    if values["upload"]:
        return image_uploads.finish(upload=values["upload"], entry=entry, idempotency_key=key)
    if values.get("reference"):
        return images.submit_reference(phase=phase, entry=entry, reference=values["reference"], idempotency_key=key)
    return images.submit_archive(phase=phase, entry=entry, file=values["file"], idempotency_key=key)


def _page(
    request: PersonRequest, phase: Phase, form: ImageForm, refused: Refused | None = None, status: int = 200
) -> HttpResponse:
    quotas = quotas_of_person(request.user, phase)
    workers = worker_status.of_phase(phase)
    uploads = list(ImageUpload.objects.filter(by=request.user).select_related("phase__benchmark", "benchmark"))
    chosen = next((upload for upload in uploads if str(upload.pk) == str(form["upload"].value())), None)
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "task": TASKS[phase.benchmark.task],
        "form": form,
        "quotas": quotas,
        "own_time": deadlines.extensions_of(phase, request.user),
        "open": deadlines.is_open_to(phase, request.user),
        "workers": workers,
        "wait": worker_status.wait_in(worker_status.queue_of(phase)) if workers.ready else None,
        "may_submit": phase.takes_images and workers.ready and may_submit(phase, quotas, request.user),
        "rows": container_limits_text.of(phase),
        "limits": container_limits.of(phase),
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "uploads": uploads,
        "chosen": chosen if chosen and chosen.phase_id == phase.pk else None,
        "refusal": Refusal(refused) if refused else None,
    }
    response = render(
        request, "containers/submit_image.html", context, status=refused.code.status if refused else status
    )
    return with_retry(response, refused)
