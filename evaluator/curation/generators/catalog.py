"""Generators offered on the site's management pages, with their tasks and outputs."""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.curation.generators import (
    adjudicate,
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
"""Exclusive upper limit of seeds on the site. Smaller ones have at most 18 digits, as on the command line."""
_GOLD = "gold.jsonl"
_NOT_SLUG = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True)
class Offer:
    """A generator that the management pages offer.

    title, about: texts for people who do not program. tasks: the names of the tasks whose gold the generator makes;
    empty: all. defaults: given a task, returns parameter name -> default text, where the generator's own default does
    not suit the task. other_outputs: the names of output files that are not gold. keeps_lines: True if each gold line
    is an unchanged line of the raw file. in_pieces: True if the generator streams its files, so that they may be larger
    than the memory.
    """

    generator: Generator
    title: str
    about: str
    tasks: tuple[str, ...] = ()
    defaults: Callable[[AnyTask], Mapping[str, str]] = lambda task: {}
    other_outputs: tuple[str, ...] = ()
    keeps_lines: bool = False
    in_pieces: bool = False

    @property
    def name(self) -> str:
        return self.generator.name

    @property
    def sources(self) -> list[Source]:
        return [source for source in self.generator.sources if source.on_site]

    @property
    def parameters(self) -> list[Parameter]:
        """Parameters with a field on the site's form. Salts have none, since the server generates them."""
        return [
            parameter
            for parameter in self.generator.parameters
            if parameter.on_site and parameter.kind is not Kind.SECRET
        ]

    def default(self, parameter: Parameter, task: str) -> str:
        """Return the initial text of the parameter's form field for gold of a task. task: the task's name."""
        return self.defaults(find_task(task)).get(parameter.name, parameter.default_text)

    def parts(self, outputs: Sequence[str]) -> dict[str, str]:
        """Return name of an output file -> name of the split to make from it, for each output file that is gold.

        gold.jsonl alone becomes the split `test`. outputs: the names of all output files.
        """
        gold_files = [name for name in outputs if name.endswith(".jsonl") and name not in self.other_outputs]
        if gold_files == [_GOLD]:
            return {_GOLD: "test"}
        part_of: dict[str, str] = {}
        for output in gold_files:
            slug = base = _slug(output.removesuffix(".jsonl")) or "part"
            number = 1
            while slug in part_of.values():
                number += 1
                slug = f"{base}-{number}"
            part_of[output] = slug
        return part_of


OFFERS: dict[str, Offer] = {
    offer.name: offer
    for offer in (
        Offer(
            passthrough.GENERATOR,
            "Use the file unchanged",
            "The raw file is gold in the task's own format. Every line is copied, byte for byte.",
            keeps_lines=True,
        ),
        Offer(
            holdout.GENERATOR,
            "Hold out a share",
            "Assigns the lines of a gold file to parts at random. Lines of one group stay together.",
            defaults=lambda task: {} if task.id_key == "id" else {"by": task.id_key},
            keeps_lines=True,
        ),
        Offer(
            folds.GENERATOR,
            "Folds by document",
            "Assigns documents to folds in turn (round-robin), then combines folds into parts.",
            defaults=lambda task: {"by": task.id_key},
            other_outputs=("folds.jsonl",),
            keeps_lines=True,
        ),
        Offer(
            symmetric.GENERATOR,
            "Symmetric set from two files",
            "Combines each original pair with the contrary pair written for it into four claims, so that neither the "
            "claim nor the sentence alone predicts the label.",
            tasks=("fact-verification",),
        ),
        Offer(
            published_symmetric.GENERATOR,
            "Symmetric set as published",
            "Reads FEVER Symmetric's published lines, checks that every group is symmetric, and gives each pair an id "
            "that does not reveal which member it is.",
            tasks=("fact-verification",),
        ),
        Offer(
            adjudicate.GENERATOR,
            "Gold from judgements",
            "Gives each item the label that two annotators or more chose, if no other label has as many votes, or the "
            "mean of its scores. The report has the agreement and the items that are left to judge.",
            tasks=("fact-verification", "fact-checking", "metric-correlation"),
            defaults=lambda task: {"key": "human" if task.name == "metric-correlation" else "label"},
            other_outputs=("left.jsonl", "again.jsonl"),
        ),
        Offer(
            scenarios.GENERATOR,
            "Scenarios over a knowledge graph",
            "Samples true claims of one relation from a knowledge graph, and false claims from easy to hard.",
            tasks=("fact-checking",),
            other_outputs=("origins.jsonl",),
            in_pieces=True,
        ),
        Offer(
            open_questions.GENERATOR,
            "Questions from triples",
            "Asks for the object and for the subject of each triple. Answers found in other triples count as known.",
            tasks=("link-prediction",),
            in_pieces=True,
        ),
    )
}
"""Offers by the name of the generator, in the order of the management page."""


def generators_for(task: str) -> list[Offer]:
    """Return the generators on the management pages that make gold of a task. task: the task's name."""
    return [offer for offer in OFFERS.values() if not offer.tasks or task in offer.tasks]


def parse_form(offer: Offer, texts: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of a form's fields, and the error messages of invalid fields, both by parameter name.

    texts: parameter name -> text of its form field.
    """
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for parameter in offer.parameters:
        try:
            values[parameter.name] = parameter.parse_form_field(texts.get(parameter.name, ""))
        except ParameterError as error:
            errors[parameter.name] = str(error)
    return values, errors


def namespace(
    offer: Offer, texts: Mapping[str, str], files: Mapping[str, Sequence[Path]], *, seed: int, salt: str
) -> argparse.Namespace:
    """Return the generator's arguments as an argparse namespace, as if they came from the command line.

    texts: parameter name -> text of its form field. files: source name -> paths. salt: the value of every salt
    parameter. Raises UsageError for an invalid field, and for a missing file or more files than a source takes.
    """
    values, errors = parse_form(offer, texts)
    if errors:
        name, message = next(iter(errors.items()))
        raise UsageError(f"{name} {message}")
    arguments: dict[str, Any] = {parameter.name: parameter.default_value for parameter in offer.generator.parameters}
    for parameter in offer.generator.parameters:
        if parameter.kind is Kind.SECRET:
            arguments[parameter.name] = parameter.read(salt)
    for source in offer.generator.sources:
        paths = list(files.get(source.name, ()))
        if source.required and not paths:
            raise UsageError(f"{source.name} is not given, expected a file")
        if len(paths) > 1 and not source.several:
            raise UsageError(f"{source.name} is {len(paths)} files, expected one")
        arguments[source.name] = paths if source.several else next(iter(paths), None)
    if offer.generator.seeded:
        arguments["seed"] = seed
    return argparse.Namespace(**{**arguments, **values})


def _slug(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NOT_SLUG.sub("-", ascii_text).strip("-")[:70]
