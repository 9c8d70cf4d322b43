"""Recipe of a generated split: inputs, parameters, outputs and versions, from which the same bytes can be made again.

A recipe has the names of files without their folders. It does not have the values of salts, but says that there were
salts.
"""

from __future__ import annotations

import argparse
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Secret
from evaluator.curation.generators.workspace import Workspace

FORMAT = 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "msgspec")
_COMMON_ARGUMENTS = {"command", "generator", "output", "json", "seed", "table"}


def recipe(generator: Generator, args: argparse.Namespace, result: GeneratorResult, bench: Workspace) -> dict[str, Any]:
    """Return the recipe as plain JSON values. Inputs are first read to their ends, and outputs closed.

    args: the generator's parsed arguments. result: the result of the run, with the report. bench: the workspace of the
    run.
    """
    inputs, outputs = bench.files()
    return {
        "recipe": FORMAT,
        "generator": generator.name,
        "version": generator.version,
        "seed": args.seed if generator.seeded else None,
        "parameters": parameters(args),
        "inputs": inputs,
        "outputs": outputs,
        "packages": packages(),
        "report": result.report,
    }


def parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Return name -> value of the generator's own arguments, without paths; a salt has the value "not recorded"."""
    recorded: dict[str, Any] = {}
    for name, value in sorted(vars(args).items()):
        if name in _COMMON_ARGUMENTS or _is_path(value):
            continue
        recorded[name] = "not recorded" if isinstance(value, Secret) else value
    return recorded


def packages() -> dict[str, str]:
    """Return name -> version, of Python and of each package of PACKAGES that is installed."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _is_path(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Path) for item in value)
    return isinstance(value, Path)
