"""Management pages of a preview: follow its progress, review its parts, and create draft splits from the parts.

A preview quotes gold, so each view is recorded in the audit trail, like each view of gold.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.curation.actions import correct_by_preview, drafts, request_preview
from leaderboard.curation.actions.drafts import DraftRequest
from leaderboard.curation.web.forms import DraftForm
from leaderboard.datasets.web import generator_texts, steps
from leaderboard.datasets.web.charts import audit
from leaderboard.datasets.web.first_lines import hidden, pretty
from leaderboard.models import AuditEntry, Benchmark, GeneratedPart, Generation, State, User

Part = tuple[GeneratedPart, DraftForm]


@login_required
@require_safe
def preview(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Show a preview, or its progress. The response for a deleted preview has the status 410 Gone."""
    benchmark = managed_or_404(request.user, slug)
    exists = benchmark.dataset.generations.filter(pk=pk).exists()
    if not exists and request_preview.is_forgotten(benchmark.dataset, pk):
        context = {"benchmark": benchmark, "max_previews": request_preview.MAX_PREVIEWS}
        return render(request, "curation/manage_preview_forgotten.html", context, status=410)
    return _page(request, *_managed_preview_or_404(request.user, slug, pk))


@login_required
@require_safe
def state(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Render the progress of a preview. Once the preview has ended, the response makes the page reload."""
    benchmark, generation = _managed_preview_or_404(request.user, slug, pk)
    context = {"benchmark": benchmark, "followed": generator_texts.following(generation)}
    answer = render(request, "curation/manage_preview_state.html", context)
    if generation.is_over:
        answer["HX-Refresh"] = "true"
    return answer


@login_required
@require_POST
def cancel(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Cancel the preview."""
    benchmark, generation = _managed_preview_or_404(request.user, slug, pk)
    try:
        request_preview.cancel(generation=generation, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, generation, refused)
    messages.success(request, "The preview was cancelled.")
    return redirect("manage_preview", slug, pk)


@login_required
@require_POST
def forget(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Delete the preview, so that its raw files can be removed too."""
    benchmark, generation = _managed_preview_or_404(request.user, slug, pk)
    try:
        request_preview.forget(generation=generation, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, generation, refused)
    messages.success(request, "The preview was deleted.")
    return redirect("manage_new_split", slug)


@login_required
@require_POST
def make_drafts(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Create draft splits from the chosen parts: all of them or none."""
    benchmark, generation = _managed_preview_or_404(request.user, slug, pk)
    parts = _parts(generation, request.POST)
    if not all(form.is_valid() for _, form in parts):
        return _page(request, benchmark, generation, parts=parts, status=422)
    requests = [
        DraftRequest(part, **{name: form.cleaned_data[name] for name in ("name", "kind", "gold_public", "hide_inputs")})
        for part, form in parts
        if form.cleaned_data["take"]
    ]
    existing = list(generation.parts.exclude(split=None).values_list("split__name", flat=True))
    if existing and not parts:
        messages.info(request, f"Draft splits were already made from this preview: {', '.join(existing)}.")
        return redirect("manage_preview", slug, pk)
    try:
        created = drafts.make(generation=generation, requests=requests, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, generation, refused, parts=parts)
    names = ", ".join(split.name for split in created)
    messages.success(request, f"Draft split{'s' if len(created) != 1 else ''} made: {names}.")
    held_out = [split for split in created if not split.gold_public]
    return redirect("manage_split", slug, (held_out or created)[-1].name)


@login_required
@require_POST
def correct(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Propose a part of a preview as a correction of a split's gold, and redirect to the correction's page.

    A manager confirms or discards the correction on that page.
    """
    benchmark, generation = _managed_preview_or_404(request.user, slug, pk)
    index, split_name = request.POST.get("part", ""), request.POST.get("split", "")
    if not index.isdecimal() or len(index) > 4:
        raise Http404("no such part")
    part = get_object_or_404(generation.parts.all(), index=int(index))
    split = get_object_or_404(benchmark.dataset.splits.select_related("dataset"), name=split_name)
    try:
        correction = correct_by_preview.propose(generation=generation, part=part, split=split, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, generation, refused)
    return redirect("manage_correction", slug, split.name, correction.pk)


def _managed_preview_or_404(user: User, slug: str, pk: int) -> tuple[Benchmark, Generation]:
    benchmark = managed_or_404(user, slug)
    rows = benchmark.dataset.generations.select_related("dataset", "requested_by")
    return benchmark, get_object_or_404(rows, pk=pk)


def _parts(generation: Generation, data: Any = None) -> list[Part]:
    """Return (part, form for its draft split) of each of the preview's parts from which no split was created yet.

    data: the data of the POST; None: the forms are unbound.
    """
    parts = generation.parts.filter(split=None)
    return [(part, DraftForm(data, prefix=f"part-{part.index}", initial=_initial(part))) for part in parts]


def _initial(part: GeneratedPart) -> dict[str, Any]:
    kind = next((kind for kind in ("train", "dev", "fold") if part.name.startswith(kind)), "test")
    return {"take": True, "name": part.name, "kind": kind, "gold_public": kind == "train"}


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    generation: Generation,
    refused: Refused | None = None,
    *,
    parts: list[Part] | None = None,
    status: int = 200,
) -> HttpResponse:
    is_done = generation.state == State.DONE
    if is_done or generation.problems:
        AuditEntry.record("generation.read", generation.dataset, by=request.user, generation=generation.pk)
    part_contexts = [(part.split, _part_context(part)) for part in generation.parts.select_related("split")]
    forms = (_parts(generation) if parts is None else parts) if is_done else []
    context = {
        "benchmark": benchmark,
        "generation": generation,
        "followed": generator_texts.following(generation),
        "run_parameters": generator_texts.run_parameters(generation, seed=True),
        "parts": part_contexts if is_done else [],
        "forms": forms,
        "corrigible": correct_by_preview.correctable_splits(generation),
        "form_errors": [form for _, form in forms if form.is_bound and form.errors],
        "steps": steps.steps(benchmark, steps.DRAFT if is_done and not forms else steps.PREVIEW, generation=generation),
        "may_forget": generation.is_over and not any(split for split, _ in part_contexts),
        "refusal": Refusal(refused) if refused else None,
    }
    return render(request, "curation/manage_preview.html", context, status=refused.code.status if refused else status)


def _part_context(part: GeneratedPart) -> dict[str, Any]:
    """Return the template context of one part.

    `facts`: counts and measures. `balance`: chart of the labels. `sizes`: (slice's name, row) per slice. `pairs`:
    (inputs, what gold adds to them) of the first lines, as text.
    """
    facts = part.facts
    return {
        "part": part,
        "facts": facts,
        "balance": audit.balance(facts.get("balance", [])),
        "sizes": [(audit.slice_name(row["slice"]), row) for row in facts.get("sizes", [])],
        "pairs": [(pretty(inputs), pretty(hidden(gold, inputs))) for inputs, gold in part.first],
    }
