"""Packages that tests install into a separate folder, and processes that import from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "text-classification-task"


def install(source: Path, work: Path, target: Path) -> None:
    """Install a package according to its pyproject.toml with setuptools, which needs neither network nor wheel."""
    copy = work / source.name
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    record = ["--single-version-externally-managed", "--record=record.txt", f"--install-lib={target}"]
    command = [sys.executable, "-W", "ignore", "-c", "import setuptools; setuptools.setup()", "-q", "install", *record]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)


def declare(target: Path, package: str, entry: str, code: str = "") -> None:
    """Write a package of one module without a build. entry: its line under [holdout.tasks]."""
    metadata = target / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[holdout.tasks]\n{entry}\n", encoding="utf-8")
    (target / f"{package}.py").write_text(code, encoding="utf-8")


def run(target: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the repository with `target` on the path; it does not use the services of the tests."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "PYTEST_"))}
    paths = {"PYTHONPATH": f"{target}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=own | paths | environment,
        capture_output=True,
        text=True,
        check=False,
    )
