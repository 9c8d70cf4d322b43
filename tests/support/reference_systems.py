"""Runs a system of fixtures/systems that needs only the standard library like its image."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
Json = dict[str, Any]


def let_in() -> list[str]:
    """Return the patterns of what fixtures/.dockerignore admits to a build."""
    first, *rest = [line for line in (FIXTURES / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert first == "*"
    assert all(line.startswith("!") for line in rest)
    return [line.removeprefix("!") for line in rest]


def lines(path: Path) -> list[Json]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def written(path: Path, rows: list[Json]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def answers(system: str, folder: Path, data: dict[str, str], questions: list[Json]) -> list[Json]:
    """Return the predictions of a system of fixtures/systems. data: names and texts of its image's data files."""
    for path in (FIXTURES / "systems" / system).glob("*.py"):
        shutil.copy(path, folder)
    for name, content in data.items():
        (folder / name).write_text(content, encoding="utf-8")
    inputs, output = written(folder / "inputs.jsonl", questions), folder / "predictions.jsonl"
    environment = {"HOLDOUT_INPUTS": str(inputs), "HOLDOUT_OUTPUT": str(output)}
    command = [sys.executable, "-S", "-B", "main.py"]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return lines(output)


def public(benchmark: str, name: str) -> str:
    return (FIXTURES / benchmark / name).read_text(encoding="utf-8")


def asked(gold: list[Json], *fields: str) -> list[Json]:
    """Return inputs: the named fields, without the answers."""
    return [{name: line[name] for name in ("id", *fields) if name in line} for line in gold]
