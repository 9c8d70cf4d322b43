"""Digest of the code that jobs run: the evaluator and the tasks of installed packages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
EXCLUDED = ("cli", "client", "reference_systems", "sandbox/containers")
"""Folders outside the digest: neither a job nor the process sandbox can import them, as a test checks."""
TASKS = "holdout.tasks"
"""Entry point group of tasks from installed packages."""


def covered_files(root: Path = ROOT) -> list[Path]:
    """Return the evaluator's Python files that the code digest covers: all below `root`, except those in EXCLUDED."""
    excluded = tuple(f"{folder}/" for folder in EXCLUDED)
    return [path for path in root.rglob("*.py") if not path.relative_to(root).as_posix().startswith(excluded)]


def digest(root: Path = ROOT, task_packages: Iterable[Path] = ()) -> str:
    """Return the SHA-256, in hex, of the names and contents of all covered files.

    Covered are the evaluator's Python files below `root`, without those in EXCLUDED, and every file of `task_packages`:
    package folders, or files of single modules. The digest depends neither on the order nor on the location of these
    packages.
    """
    files = [(path.relative_to(root), path) for path in covered_files(root)]
    for package in task_packages:
        package_files = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        files += [(path.relative_to(package.parent), path) for path in package_files or [package]]
    lines = sorted(f"{name.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def task_packages(group: str = TASKS) -> list[Path]:
    """Return the sorted paths of the outermost packages of all installed tasks, without importing them.

    group: the entry point group under which packages declare their tasks.
    """
    locations = {path for entry in entry_points(group=group) if (path := _location(entry)) is not None}
    return sorted(locations - {ROOT})


def _location(entry: EntryPoint) -> Path | None:
    try:
        return _outermost_package(entry.module.split("."))
    except Exception:  # noqa: BLE001 - an entry point that does not load is a problem of its task alone
        return None


def _outermost_package(names: list[str]) -> Path | None:
    for depth in range(1, len(names) + 1):
        spec = find_spec(".".join(names[:depth]))
        if spec is None:
            break
        if spec.origin is not None:  # else a namespace package, which has no files of its own
            path = Path(spec.origin)
            return path.parent if spec.submodule_search_locations is not None else path
    return None


SHA256 = digest(task_packages=task_packages())
"""The code digest of this process.

It is computed when the process starts, so that it describes the running code even if the files on disk change later.
"""
