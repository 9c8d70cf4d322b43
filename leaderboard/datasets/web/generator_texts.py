"""Texts for a run of a split generator: its progress, why it failed, and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.curation.generators.catalog import OFFERS
from leaderboard.models import GeneratedFrom, GeneratedPart, Generation, Reason, Split, State

ASK_AGAIN = 1500
"""Polling interval of the page in milliseconds."""
FAILED = {
    Reason.TIME: "it exceeded the server's time limit",
    Reason.MEMORY: "it exceeded the server's memory limit",
    Reason.OUTPUT: "its output is larger than the limit for previews",
    Reason.SUPERSEDED: "the server was upgraded, and its generator now makes different splits; make a new preview",
    Reason.EXIT: "the generator stopped with an internal error",
    Reason.BAD_REPORT: "its report is malformed",
}


@dataclass(frozen=True)
class Followed:
    """Progress of a run. done, of: parts checked; of is 0 while the generator itself runs. why: it failed, in words."""

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
    """Parameters of a run. sources: (title, file); parameters: (title, text); seed: None where not shown."""

    title: str
    name: str
    version: int
    sources: Sequence[tuple[str, GeneratedFrom]]
    parameters: Sequence[tuple[str, str]]
    seed: int | None
    is_seeded: bool


def provenance(split: Split) -> dict[str, Any]:
    """Return public template context on how a split was generated, without seed, salt or names of raw files.

    `provenance`: None if its gold did not come from a generator. `provenance_gold`: the generated gold version.
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


def following(generation: Generation) -> Followed:
    parts = list(generation.parts.all())
    why = FAILED.get(Reason(generation.reason), Reason(generation.reason).label) if generation.reason else ""
    done = len(parts) if generation.state == State.DONE else sum(bool(part.facts) for part in parts)
    return Followed(generation, title(generation), done, len(parts), why)


def title(generation: Generation) -> str:
    offer = OFFERS.get(generation.generator)
    return offer.title if offer else generation.generator


def run_parameters(generation: Generation, *, seed: bool) -> RunParameters:
    """Return the parameters of a run. seed: show the seed, which with the raw files gives away the split."""
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
