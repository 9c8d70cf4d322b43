"""`pip install .`: the `holdout` command on a researcher's own machine, without the site and what it needs."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from evaluator.cli.main import main

ROOT = Path(__file__).parents[3]
CLAIMS = ROOT / "fixtures" / "mirror-claims"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the commands of a fresh environment; built from a copy, so that no build is left in the source."""
    folder = tmp_path_factory.mktemp("laptop")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.txt", "requirements-systems.txt"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "evaluator", source / "evaluator", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", source], check=True)
    return folder / "venv" / "bin"


def run(installed, *arguments):
    environment = {"PATH": os.defpath, "HOME": str(installed)}
    return subprocess.run(
        [installed / "holdout", *arguments], cwd=installed, env=environment, capture_output=True, text=True, check=False
    )


COMMANDS = {
    "validate": ["--inputs", CLAIMS / "splits" / "dev.jsonl"],
    "score": ["--gold", CLAIMS / "splits" / "dev.jsonl"],
    "compare": ["--gold", CLAIMS / "splits" / "dev.jsonl", CLAIMS / "predictions" / "dev" / "negation-overlap.jsonl"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_installed_command_gives_the_same_bytes(installed, command, capsys):
    arguments = [command, "fact-verification", *COMMANDS[command], CLAIMS / "predictions" / "dev" / "claim-only.jsonl"]
    arguments = [str(argument) for argument in (*arguments, "--json")]
    done = run(installed, *arguments)
    assert done.returncode == main(arguments) == 0, done.stderr
    assert done.stdout == capsys.readouterr().out
    assert json.loads(done.stdout)


def test_it_says_its_name_and_its_exit_status(installed):
    wrong = run(installed, "score", "fact-verification")
    assert wrong.returncode == 64
    assert "usage: holdout score" in wrong.stderr
    bad = run(installed, "score", "fact-verification", "--gold", COMMANDS["score"][1], "holdout")
    assert bad.returncode == 2


def test_nothing_of_the_server_comes_with_it(installed):
    listed = subprocess.run(
        [installed / "python", "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"],
        capture_output=True,
        check=True,
    )
    names = {package["name"].lower() for package in json.loads(listed.stdout)}
    assert names - {"pip", "setuptools", "wheel"} == {"holdout", "numpy", "msgspec"}
    modules = "leaderboard", "django", "celery", "docker", "scipy"
    for module in modules:
        missing = subprocess.run(
            [installed / "python", "-I", "-c", f"import {module}"], capture_output=True, check=False
        )
        assert b"ModuleNotFoundError" in missing.stderr


def test_what_needs_more_says_what_to_install(installed):
    words = ["--task", "fact-verification", "--inputs", COMMANDS["validate"][1]]
    asked = run(installed, "run", "image", *words)
    assert (asked.returncode, "pip install 'holdout[systems]'" in asked.stderr) == (4, True), asked.stderr
    where = ["--server", "https://board.example", "--benchmark", "b", "--phase", "p", "--system", "s"]
    asked = run(installed, "submit", "predictions.jsonl", *where)
    assert (asked.returncode, "set HOLDOUT_TOKEN" in asked.stderr) == (64, True), asked.stderr


def test_what_the_server_needs_is_an_extra(installed):
    place = next(installed.parent.glob("lib/python*/site-packages/holdout-*.dist-info"))
    metadata = PathDistribution(place).metadata
    extra = [text for text in metadata.get_all("Requires-Dist") if text.endswith('extra == "server"')]
    wanted = [line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines()]
    assert len(extra) == len([line for line in wanted if line])
    assert any(text.startswith("django==") for text in extra)
