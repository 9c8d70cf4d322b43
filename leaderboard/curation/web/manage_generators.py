"""Management page of a generator: choose its raw files and parameters. A POST starts a preview."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.curation.generators.catalog import generators_for
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.curation.actions import request_preview
from leaderboard.curation.web.forms import GeneratorForm, initial_of
from leaderboard.datasets.web import steps
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Benchmark, Generation, Split


@login_required
@require_http_methods(["GET", "POST"])
def generator(request: PersonRequest, slug: str, generator: str) -> HttpResponse:
    """Show the form of a generator; a POST starts a preview.

    `?again=ID` fills the form with the values of an earlier preview.
    """
    benchmark = managed_or_404(request.user, slug)
    offer = next((candidate for candidate in generators_for(benchmark.task) if candidate.name == generator), None)
    if offer is None:
        raise Http404("no such generator")
    earlier = _earlier(benchmark, generator, request.GET.get("again", ""))
    form = GeneratorForm(
        request.POST if request.method == "POST" else None,
        offer=offer,
        dataset=benchmark.dataset,
        initial=initial_of(earlier) if earlier else {},
    )
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            generation = request_preview.begin(
                dataset=benchmark.dataset,
                generator=offer.name,
                sources=form.sources,
                parameters=form.parameters,
                options=form.cleaned_data["options"],
                seed=form.cleaned_data.get("seed"),
                by=request.user,
            )
            return redirect("manage_preview", slug, generation.pk)
        except Refused as refused:
            refusal = Refusal(refused)
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "offer": offer,
        "form": form,
        "under_way": request_preview.under_way(benchmark.dataset),
        "forgotten": request_preview.forgotten_next(benchmark.dataset),
        "most_mb": request_preview.most_read(offer) // 1_000_000,
        "max_output_mb": sandbox_client.MAX_OUTPUT_BYTES // 1_000_000,
        "seconds": settings.SCORE_SECONDS,
        "max_previews": request_preview.MAX_PREVIEWS,
        "corrects": _corrected_by(earlier),
        "steps": steps.steps(benchmark, steps.GENERATOR),
        "has_raws": benchmark.dataset.raw_files.exists(),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form.errors else 200
    return render(request, "curation/manage_generator.html", context, status=status)


def _earlier(benchmark: Benchmark, generator: str, again: str) -> Generation | None:
    if not again.isdecimal() or len(again) > 18:
        return None
    return benchmark.dataset.generations.filter(pk=int(again), generator=generator).first()


def _corrected_by(earlier: Generation | None) -> list[Split]:
    """Return the non-draft splits made from an earlier preview, which a preview with the same parameters may correct.

    Empty if `earlier` is None.
    """
    if earlier is None:
        return []
    return list(Split.objects.filter(generated__generation=earlier).exclude(state=Split.State.DRAFT))
