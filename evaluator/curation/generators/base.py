"""What a generator of splits, or an audit of one, declares of itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluator.curation.generators.parameters import Parameter, Source
from evaluator.curation.generators.workspace import Bench
from evaluator.exit_codes import DONE


@dataclass(frozen=True)
class Made:
    """What a generator tells when it is done.

    report: plain JSON values that follow from inputs, seed and parameters alone; they stand in the recipe, so nothing
    of the machine or of the clock. text: the same for a person. status: the command's exit status.
    """

    report: dict[str, Any]
    text: str
    status: int = DONE


@dataclass(frozen=True)
class Generator:
    """One subcommand.

    version: raised by hand when the same inputs, seed and parameters may give other bytes.
    sources, parameters: what it is asked for; `add_arguments` adds what they cannot say. A path has `type=Path`, a salt
    `type=Secret`: all others are recorded as parameters, so each is a JSON value. `--seed` is there where `seeded`,
    `--output` and `--json` always.
    make: does the work. Raises GoldError, PredictionError or UsageError.
    """

    name: str
    version: int
    summary: str
    make: Callable[[argparse.Namespace, Bench], Made]
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    seeded: bool = True
    sources: tuple[Source, ...] = ()
    parameters: tuple[Parameter, ...] = ()

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Its own arguments, on its subcommand's parser."""
        for source in self.sources:
            source.add_to(parser)
        for parameter in self.parameters:
            parameter.add_to(parser)
        if self.add_arguments is not None:
            self.add_arguments(parser)
