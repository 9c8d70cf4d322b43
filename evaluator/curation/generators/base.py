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

    report: plain JSON values for the recipe. They follow from inputs, seed and parameters alone, never from the machine
    or the clock. text: the report for a person. status: the command's exit status.
    """

    report: dict[str, Any]
    text: str
    status: int = DONE


@dataclass(frozen=True)
class Generator:
    """A split generator or an audit, which is one subcommand.

    version: incremented by hand when the same inputs, seed and parameters may give other bytes.
    sources, parameters: the files and values that the generator takes. add_arguments: adds arguments that sources and
    parameters cannot express: paths need `type=Path` and salts `type=Secret`; all other values are recorded in the
    recipe as JSON.
    seeded: True if the subcommand has the argument `--seed`. All subcommands have `--output` and `--json`.
    make: runs the generator. It raises GoldError, PredictionError or UsageError.
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
        """Add the generator's arguments to the parser of its subcommand."""
        for source in self.sources:
            source.add_to(parser)
        for parameter in self.parameters:
            parameter.add_to(parser)
        if self.add_arguments is not None:
            self.add_arguments(parser)
