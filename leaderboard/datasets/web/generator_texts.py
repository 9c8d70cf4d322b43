"""Texts for the run of a generator, which makes splits from raw files: progress, cause of failure, and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.curation.generators.catalog import OFFERS
from leaderboard.models import GeneratedFrom, GeneratedPart, Generation, Reason, Split, State

ASK_AGAIN = 1500
"""Interval in milliseconds after which the page asks for the progress again."""
FAILED = {
    Reason.TIME: "it exceeded the server's time limit",
    Reason.MEMORY: "it exceeded the server's memory limit",
    Reason.OUTPUT: "its output is larger than the limit for previews",
    Reason.SUPERSEDED: "the server was upgraded, and its generator now makes different splits; make a new preview",
    Reason.EXIT: "the generator stopped with an internal error",
    Reason.BAD_REPORT: "its report is malformed",
}


@dataclass(frozen=True)
class GenerationProgress:
    """Progress of a generator's run.

    title: of the generator. done: number of generated parts that have been inspected. of: number of all generated
    parts, 0 while the generator itself runs. why: text that says why the run failed or waits, empty otherwise.
    """

    generation: Generation
    title: str
    done: int
    of: int
    why: str

    @property
    def ask_again(self) -> int | None:
        return None if self.generation.is_over else ASK_AGAIN


@dataclass(frozen=True)
class RunParameters:
    """Parameters of a generator's run, for pages.

    title, name, version: of the generator. sources: (title of the generator's source, raw file chosen for it).
    parameters: (title, value as text). seed: None if it must not be shown. is_seeded: True if the generator makes
    random choices.
    """

    title: str
    name: str
    version: int
    sources: Sequence[tuple[str, GeneratedFrom]]
    parameters: Sequence[tuple[str, str]]
    seed: int | None
    is_seeded: bool


def provenance(split: Split) -> dict[str, Any]:
    """Return template context for a public page that says how a split was generated, without seed and salt.

    The page shows only sizes and digests of the raw files, not their names.

    `provenance`: a RunParameters, or None, alone, if no gold version of the split came from a generator.
    `provenance_part`: the generated part. `provenance_gold`: the gold version made from that part.
    """
    part = GeneratedPart.objects.filter(split=split).select_related("generation").first()
    gold = split.gold_versions.filter(sha256=part.sha256).first() if part else None
    if part is None or gold is None:
        return {"provenance": None}
    return {
        "provenance": run_parameters(part.generation, seed=False),
        "provenance_part": part,
        "provenance_gold": gold,
    }


def following(generation: Generation) -> GenerationProgress:
    parts = list(generation.parts.all())
    why = FAILED.get(Reason(generation.reason), Reason(generation.reason).label) if generation.reason else ""
    done = len(parts) if generation.state == State.DONE else sum(bool(part.facts) for part in parts)
    return GenerationProgress(generation, title(generation), done, len(parts), why)


def title(generation: Generation) -> str:
    offer = OFFERS.get(generation.generator)
    return offer.title if offer else generation.generator


def run_parameters(generation: Generation, *, seed: bool) -> RunParameters:
    """Return the parameters of a generator's run.

    seed: include the seed. Whoever knows the seed and the raw files can generate the split, so it is for managers only.
    """
    offer = OFFERS.get(generation.generator)
    titles: dict[str, str] = {}
    if offer:
        titles |= {source.name: source.title for source in offer.sources}
        titles |= {parameter.name: parameter.title for parameter in offer.parameters}
    sources = generation.sources.select_related("raw")
    return RunParameters(
        title=title(generation),
        name=generation.generator,
        version=generation.version,
        sources=[(titles.get(source_file.role, source_file.role), source_file) for source_file in sources],
        parameters=[(titles.get(name, name), text) for name, text in generation.parameters.items() if text],
        seed=generation.seed if seed else None,
        is_seeded=bool(offer and offer.generator.seeded),
    )
