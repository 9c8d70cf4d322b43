"""Requirements and lock files: what is declared is used, and an installation has only files with a known hash."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
INPUTS = sorted(ROOT.glob("requirements*.txt"))
NOT_IMPORTED = {"psycopg": "the driver of PostgreSQL, which Django imports"}
"""Requirements of the server that its code does not import."""


def pins(file: Path) -> dict[str, str]:
    """Return the pinned versions by distribution."""
    lines = (line.split("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    matches = [re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==(\S+)", line) for line in lines if line and line[0] != "-"]
    assert all(matches), f"{file.name}: each requirement is pinned: NAME==VERSION"
    return {match[1]: match[2] for match in matches if match}


def locked(file: Path) -> dict[str, str]:
    """Return the locked versions by distribution; each has hashes, and nothing comes from an address."""
    entries = re.split(r"\n(?=\S)", "\n".join(file.read_text(encoding="utf-8").splitlines()[2:]))
    matches = [
        re.match(r"([a-z0-9-]+)==([\w.+]+)(?: ; [^\\]+)? \\\n    --hash=sha256:[0-9a-f]{64}", e) for e in entries
    ]
    assert all(matches), f"{file.name}: each package has a version and hashes"
    return {match[1]: match[2] for match in matches if match}


def test_the_lock_files_fit_the_requirements() -> None:
    checked = subprocess.run([ROOT / "bin" / "lock", "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    server = locked(ROOT / "requirements.lock")
    for file in INPUTS:
        versions = locked(file.with_suffix(".lock"))
        assert pins(file).items() <= versions.items()
        assert {name: versions.get(name, version) for name, version in server.items()} == server
    assert server.keys() <= locked(ROOT / "requirements-dev.lock").keys()


@pytest.mark.parametrize("change", ["another==1.0\n", "django==5.2.20  # newer\n"])
def test_another_requirement_needs_another_lock_file(tmp_path: Path, change: str) -> None:
    for file in (*INPUTS, *ROOT.glob("requirements*.lock"), ROOT / "bin" / "lock"):
        (tmp_path / file.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# Only a comment.\n" + requirements.read_text())
    check = [tmp_path / "bin" / "lock", "--check"]
    assert subprocess.run(check, check=False).returncode == 0
    requirements.write_text(requirements.read_text() + change)
    failed = subprocess.run(check, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "requirements.lock does not fit requirements.txt: run bin/lock" in failed.stderr


def test_each_requirement_of_the_server_is_imported() -> None:
    files = [path for folder in ("evaluator", "leaderboard", "fixtures") for path in (ROOT / folder).rglob("*.py")]
    imports = re.compile(r"^\s*(?:from|import) (\w+)|\b_library\(\"(\w+)", re.MULTILINE)
    modules = {a or b for path in files for a, b in imports.findall(path.read_text(encoding="utf-8"))}
    modules |= set(re.findall(r'"([a-z_]+)[".]', (ROOT / "leaderboard" / "settings.py").read_text(encoding="utf-8")))
    for name in pins(ROOT / "requirements.txt").keys() - NOT_IMPORTED.keys():
        tops = {Path(file.parts[0]).name.partition(".")[0] for file in distribution(name).files or () if file.parts}
        assert tops & modules, f"nothing imports {name}"


def test_the_scripts_install_lock_files() -> None:
    for script in ("serve", "test", "docs"):
        [lock] = re.findall(r'bin/bootstrap" (\S+)', (ROOT / "bin" / script).read_text(encoding="utf-8"))
        locked(ROOT / lock)
