"""Digest of the code that jobs run: the evaluator's own and that of tasks from installed packages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
APART = ("cli", "sandbox/containers")
"""Folders of the evaluator that neither a job nor the process sandbox can import; a test walks the imports."""
TASKS = "holdout.tasks"
"""The entry point group of tasks from installed packages."""


def covered(root: Path = ROOT) -> list[Path]:
    """The evaluator's Python files that the digest covers."""
    apart = tuple(f"{folder}/" for folder in APART)
    return [path for path in root.rglob("*.py") if not path.relative_to(root).as_posix().startswith(apart)]


def digest(root: Path = ROOT, task_packages: Iterable[Path] = ()) -> str:
    """sha256, in hex, over the names and contents of the covered files of `root` and of all files of `task_packages`.

    task_packages: folders of packages, and files of single modules. Neither their order nor their location matters.
    """
    files = [(path.relative_to(root), path) for path in covered(root)]
    for package in task_packages:
        found = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        files += [(path.relative_to(package.parent), path) for path in found or [package]]
    lines = sorted(f"{name.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def task_packages(group: str = TASKS) -> list[Path]:
    """Locations of the outermost packages that declare tasks. They are found without being imported."""
    found = {path for entry in entry_points(group=group) if (path := _location(entry.module)) is not None}
    return sorted(found - {ROOT})


def _location(module: str) -> Path | None:
    names = module.split(".")
    for depth in range(1, len(names) + 1):
        spec = find_spec(".".join(names[:depth]))
        if spec is None:
            break
        if spec.origin is not None:  # else a namespace package, which has no files of its own
            path = Path(spec.origin)
            return path.parent if spec.submodule_search_locations is not None else path
    return None


SHA256 = digest(task_packages=task_packages())
"""Taken when the process starts: of the code that it runs, whatever has been put in its place on the disk since."""
