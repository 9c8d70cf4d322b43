"""Declaration of a split generator or of an audit, as a subcommand."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluator.curation.generators.parameters import Parameter, Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.exit_codes import DONE


@dataclass(frozen=True)
class GeneratorResult:
    """Result of a generator.

    report: plain JSON values determined by inputs, seed and parameters alone; they go into the recipe, so nothing
    depends on the machine or the clock. text: the report for a person. status: the command's exit status.
    """

    report: dict[str, Any]
    text: str
    status: int = DONE


@dataclass(frozen=True)
class Generator:
    """One subcommand.

    version: raised by hand when the same inputs, seed and parameters may give other bytes.
    sources, parameters: its arguments; `add_arguments` adds those they cannot express. A path has `type=Path`, a salt
    `type=Secret`: all others are recorded as parameters, so each is a JSON value. `--seed` exists if `seeded`,
    `--output` and `--json` always.
    make: runs the generator. Raises GoldError, PredictionError or UsageError.
    """

    name: str
    version: int
    summary: str
    make: Callable[[argparse.Namespace, Workspace], GeneratorResult]
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    seeded: bool = True
    sources: tuple[Source, ...] = ()
    parameters: tuple[Parameter, ...] = ()

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments to the parser of its subcommand."""
        for source in self.sources:
            source.add_to(parser)
        for parameter in self.parameters:
            parameter.add_to(parser)
        if self.add_arguments is not None:
            self.add_arguments(parser)
