"""`pip install .`: the `holdout` command on a researcher's machine, without the site and its dependencies."""

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
    """The bin folder of a new environment; built from a copy, so that no build files remain in the source."""
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
    result = run(installed, *arguments)
    assert result.returncode == main(arguments) == 0, result.stderr
    assert result.stdout == capsys.readouterr().out
    assert json.loads(result.stdout)


def test_usage_and_exit_status_of_the_installed_command(installed):
    wrong = run(installed, "score", "fact-verification")
    assert wrong.returncode == 64
    assert "usage: holdout score" in wrong.stderr
    bad = run(installed, "score", "fact-verification", "--gold", COMMANDS["score"][1], "holdout")
    assert bad.returncode == 2


def test_no_server_package_is_installed(installed):
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


def test_a_command_with_a_missing_dependency_names_it(installed):
    options = ["--task", "fact-verification", "--inputs", COMMANDS["validate"][1]]
    result = run(installed, "run", "image", *options)
    assert (result.returncode, "pip install 'holdout[systems]'" in result.stderr) == (4, True), result.stderr
    target = ["--server", "https://board.example", "--benchmark", "b", "--phase", "p", "--system", "s"]
    result = run(installed, "submit", "predictions.jsonl", *target)
    assert (result.returncode, "set HOLDOUT_TOKEN" in result.stderr) == (64, True), result.stderr


def test_the_servers_dependencies_are_an_extra(installed):
    path = next(installed.parent.glob("lib/python*/site-packages/holdout-*.dist-info"))
    metadata = PathDistribution(path).metadata
    extra = [text for text in metadata.get_all("Requires-Dist") if text.endswith('extra == "server"')]
    required = [line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines()]
    assert len(extra) == len([line for line in required if line])
    assert any(text.startswith("django==") for text in extra)
