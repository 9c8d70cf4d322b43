"""Steps from a raw file to a phase on the split that is made from it, shown as navigation on management pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from leaderboard.datasets.queries import audit_results
from leaderboard.models import Benchmark, Generation, Split

NAMES = ("Raw file", "Generator", "Preview", "Draft", "Audit", "Publish", "Phase")
RAW, GENERATOR, PREVIEW, DRAFT, AUDIT, PUBLISH, PHASE = range(len(NAMES))


@dataclass(frozen=True)
class Step:
    """One step of making a split. url: of the step's page, empty if there is none yet. behind: True if it is done."""

    name: str
    url: str
    behind: bool
    is_current: bool


def steps(
    benchmark: Benchmark, current: int, *, generation: Generation | None = None, split: Split | None = None
) -> list[Step]:
    """Return all steps of making a split. Steps that cannot be taken yet have no URL.

    current: index of the current step in NAMES; len(NAMES) if all are done. generation: the generator's run; None:
    there is none yet. split: the split made from the run; None: there is none yet.
    """
    start = reverse("manage_new_split", args=[benchmark.slug])
    urls = {RAW: f"{start}#raw", GENERATOR: f"{start}#generators"}
    if generation is not None:
        urls[PREVIEW] = reverse("manage_preview", args=[benchmark.slug, generation.pk])
        urls[GENERATOR] = (
            reverse("manage_generator", args=[benchmark.slug, generation.generator]) + f"?again={generation.pk}"
        )
    if split is not None:
        split_url = reverse("manage_split", args=[benchmark.slug, split.name])
        urls |= {DRAFT: split_url, AUDIT: f"{split_url}#audit-title"}
        urls[PUBLISH] = f"{split_url}#publish-title" if split.is_draft else split_url
        if not split.is_draft:
            urls[PHASE] = reverse("manage_phase_create", args=[benchmark.slug]) + f"?split={split.name}"
    has_raws = benchmark.dataset.raw_files.exists()  # the page of a generator can be opened without
    return [
        Step(name, urls.get(index, ""), index < current and (index != RAW or has_raws), index == current)
        for index, name in enumerate(NAMES)
    ]


def steps_of_split(benchmark: Benchmark, split: Split) -> list[Step]:
    """Return the steps of a split that was made by a generator; empty for any other split."""
    part = getattr(split, "generated", None)
    if part is None:
        return []
    if not split.is_draft:
        done = benchmark.phases.filter(split=split).exists()
        return steps(benchmark, len(NAMES) if done else PHASE, generation=part.generation, split=split)
    verdict = audit_results.verdict(split)
    step = PUBLISH if verdict.is_passed or split.gold_public else AUDIT if verdict.audit else DRAFT
    return steps(benchmark, step, generation=part.generation, split=split)
