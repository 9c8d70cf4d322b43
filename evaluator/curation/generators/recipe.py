"""The recipe: what a generator was given and what it made, so that anybody with the same inputs makes the same bytes.

Names of files stand in it, and never where they lie; of a salt only that there was one.
"""

from __future__ import annotations

import argparse
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.parameters import Secret
from evaluator.curation.generators.workspace import Bench

FORMAT = 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "msgspec")
_OF_EVERY_COMMAND = {"command", "generator", "output", "json", "seed"}


def recipe(generator: Generator, given: argparse.Namespace, made: Made, bench: Bench) -> dict[str, Any]:
    """Plain JSON values. Inputs are read to their ends and outputs closed by it."""
    inputs, outputs = bench.files()
    return {
        "recipe": FORMAT,
        "generator": generator.name,
        "version": generator.version,
        "seed": given.seed if generator.seeded else None,
        "parameters": parameters(given),
        "inputs": inputs,
        "outputs": outputs,
        "packages": packages(),
        "report": made.report,
    }


def parameters(given: argparse.Namespace) -> dict[str, Any]:
    """The generator's own arguments, without paths; a salt is named and not told."""
    told: dict[str, Any] = {}
    for name, value in sorted(vars(given).items()):
        if name in _OF_EVERY_COMMAND or _is_path(value):
            continue
        told[name] = "not recorded" if isinstance(value, Secret) else value
    return told


def packages() -> dict[str, str]:
    """Versions of Python and of the packages that generators use, of those that are installed."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _is_path(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Path) for item in value)
    return isinstance(value, Path)
