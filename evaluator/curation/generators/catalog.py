"""The generators that the site's desk offers, for which tasks, and what becomes of their outputs."""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.curation.generators import (
    folds,
    holdout,
    open_questions,
    passthrough,
    published_symmetric,
    scenarios,
    symmetric,
)
from evaluator.curation.generators.base import Generator
from evaluator.curation.generators.parameters import Kind, Parameter, ParameterError, Source
from evaluator.errors import UsageError
from evaluator.tasks.base import AnyTask
from evaluator.tasks.registry import find_task

SEED_BELOW = 10**18
"""Seeds on the desk: as many digits as the command line takes."""
_GOLD = "gold.jsonl"
_NO_LETTER = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True)
class Offer:
    """One generator on the desk.

    title, about: for whoever is no programmer. tasks: that it makes gold of; empty: all. defaults: of parameters, by
    task, where the generator's own do not fit. beside: outputs that are no gold. keeps_lines: gold's lines are lines of
    the file that it reads. in_pieces: it reads files of any size, and keeps of them what it needs.
    """

    generator: Generator
    title: str
    about: str
    tasks: tuple[str, ...] = ()
    defaults: Callable[[AnyTask], Mapping[str, str]] = lambda task: {}
    beside: tuple[str, ...] = ()
    keeps_lines: bool = False
    in_pieces: bool = False

    @property
    def name(self) -> str:
        return self.generator.name

    @property
    def sources(self) -> list[Source]:
        return [source for source in self.generator.sources if source.desk]

    @property
    def parameters(self) -> list[Parameter]:
        """Those that are asked for; a salt is the server's to draw."""
        return [one for one in self.generator.parameters if one.desk and one.kind is not Kind.SECRET]

    def default(self, parameter: Parameter, task: str) -> str:
        """What a form begins with."""
        return self.defaults(find_task(task)).get(parameter.name, parameter.otherwise_text)

    def parts(self, outputs: Sequence[str]) -> dict[str, str]:
        """The name of a split for each output that is gold; `test` where there is but one."""
        golds = [name for name in outputs if name.endswith(".jsonl") and name not in self.beside]
        if golds == [_GOLD]:
            return {_GOLD: "test"}
        named: dict[str, str] = {}
        for output in golds:
            slug = base = _slug(output.removesuffix(".jsonl")) or "part"
            number = 1
            while slug in named.values():
                number += 1
                slug = f"{base}-{number}"
            named[output] = slug
        return named


OFFERS: dict[str, Offer] = {
    offer.name: offer
    for offer in (
        Offer(
            passthrough.GENERATOR,
            "Take it as it is",
            "The raw file is gold in the task's own format. Every line is taken, byte for byte.",
            keeps_lines=True,
        ),
        Offer(
            holdout.GENERATOR,
            "Hold out a share",
            "Shares the lines of a gold file out among parts at random. What belongs together stays together.",
            defaults=lambda task: {} if task.id_key == "id" else {"by": task.id_key},
            keeps_lines=True,
        ),
        Offer(
            folds.GENERATOR,
            "Folds by document",
            "Deals documents out to folds in turn, and joins folds to parts.",
            defaults=lambda task: {"by": task.id_key},
            beside=("folds.jsonl",),
            keeps_lines=True,
        ),
        Offer(
            symmetric.GENERATOR,
            "Symmetric set from two files",
            "Makes four claims of each original pair and the contrary pair that somebody wrote to it, so that neither "
            "claim nor sentence alone tells the answer.",
            tasks=("fact-verification",),
        ),
        Offer(
            published_symmetric.GENERATOR,
            "Symmetric set as published",
            "Reads FEVER Symmetric's published lines, checks that every group is symmetric, and gives every pair an id "
            "that does not tell which member it is.",
            tasks=("fact-verification",),
        ),
        Offer(
            scenarios.GENERATOR,
            "Scenarios over a knowledge graph",
            "Draws true claims of one relation from a knowledge graph, and false ones from easy to hard.",
            tasks=("fact-checking",),
            beside=("origins.jsonl",),
            in_pieces=True,
        ),
        Offer(
            open_questions.GENERATOR,
            "Questions from triples",
            "Asks each triple for its object and for its subject. Answers that other triples know count as known.",
            tasks=("link-prediction",),
            in_pieces=True,
        ),
    )
}
"""By name, in the order in which a page has them."""


def offered(task: str) -> list[Offer]:
    """What makes gold of a task."""
    return [offer for offer in OFFERS.values() if not offer.tasks or task in offer.tasks]


def filled(offer: Offer, texts: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of a form's fields, and what is wrong with the others; both by parameter."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for parameter in offer.parameters:
        try:
            values[parameter.name] = parameter.filled(texts.get(parameter.name, ""))
        except ParameterError as error:
            wrong[parameter.name] = str(error)
    return values, wrong


def namespace(
    offer: Offer, texts: Mapping[str, str], files: Mapping[str, Sequence[Path]], *, seed: int, salt: str
) -> argparse.Namespace:
    """What the command line's parser would have made of the same. files: by source. Raises UsageError."""
    values, wrong = filled(offer, texts)
    if wrong:
        name, what = next(iter(wrong.items()))
        raise UsageError(f"{name} {what}")
    given: dict[str, Any] = {one.name: one.otherwise for one in offer.generator.parameters}
    for parameter in offer.generator.parameters:
        if parameter.kind is Kind.SECRET:
            given[parameter.name] = parameter.read(salt)
    for source in offer.generator.sources:
        paths = list(files.get(source.name, ()))
        if source.required and not paths:
            raise UsageError(f"{source.name} is not given, expected a file")
        if len(paths) > 1 and not source.several:
            raise UsageError(f"{source.name} is {len(paths)} files, expected one")
        given[source.name] = paths if source.several else next(iter(paths), None)
    if offer.generator.seeded:
        given["seed"] = seed
    return argparse.Namespace(**{**given, **values})


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NO_LETTER.sub("-", plain).strip("-")[:70]
