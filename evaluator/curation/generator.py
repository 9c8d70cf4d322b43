"""What a generator of splits, or an audit of one, declares of itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluator.client.status import DONE
from evaluator.curation.bench import Bench


class Secret(str):
    """An argument that the recipe leaves out: a salt."""

    __slots__ = ()


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
    add_arguments: adds its own arguments. A path has `type=Path`, a salt `type=Secret`: all others are recorded as
    parameters, so each is a JSON value. `--seed` is there where `seeded`, `--output` and `--json` always.
    make: does the work. Raises GoldError, PredictionError or UsageError.
    """

    name: str
    version: int
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    make: Callable[[argparse.Namespace, Bench], Made]
    seeded: bool = True
