"""The files of the open project: workflows, templates and pages name what exists."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.y*ml"))
PAGES = sorted(ROOT.glob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Files that commands create.
CREATED = {".venv", "artifacts", "sbom.json", "site"}


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            yield f"{path.name}: {name}", job


def test_the_workflows_run_scripts_and_tests_that_exist() -> None:
    commands = [(name, step["run"]) for name, job in jobs() for step in job["steps"] if "run" in step]
    assert any(command == ".ci/run" for _, command in commands)
    named = 0
    for name, command in commands:
        for word in shlex.split(re.sub(r"\$\{\{.*?\}\}|[()|;{}]", " ", command), comments=True):
            first = word.partition("/")[0]
            if "/" not in word or first not in {"bin", ".ci", "tests", "docs", ".venv"}:
                continue
            named += 1
            found = list(ROOT.glob(word)) or first in CREATED
            assert found, f"{name} names {word}, which does not exist"
            if first in {"bin", ".ci"} and command.startswith(word):
                assert os.access(ROOT / word, os.X_OK), f"{name}: {word} is not executable"
    assert named > 10
    tools = {word.rpartition("/")[2] for _, command in commands for word in command.split() if word[:6] == ".venv/"}
    assert tools == {"python", "ruff", "lint-imports"}


def test_the_client_is_tested_on_every_python_that_the_package_names() -> None:
    versions = {version for _, job in jobs() for version in job.get("strategy", {}).get("matrix", {}).get("python", ())}
    prefix = "Programming Language :: Python :: 3."
    assert versions == {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if text.startswith(prefix)}
    assert PROJECT["requires-python"] == f">={min(versions)}"


def test_actions_have_a_version_and_few_permissions() -> None:
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
    used = [step["uses"] for _, job in jobs() for step in job["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in used)


def test_dependabot_and_the_forms_are_complete() -> None:
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"pip", "github-actions", "docker"}
    forms = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in GITHUB.glob("ISSUE_TEMPLATE/*.yaml")]
    assert len(forms) == 2
    for form in forms:
        assert form["name"] and form["description"]
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert fields and all(field["id"] and field["attributes"]["label"] for field in fields)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yaml"),
        ("dependabot", "dependabot.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/*.yaml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.y*ml"),
    ],
)
def test_the_files_for_github_fit_its_schemas(schema: str, pattern: str) -> None:
    vendored = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{schema}.json"
    validator = Draft7Validator(json.loads(vendored.read_text(encoding="utf-8")))
    paths = list(GITHUB.glob(pattern))
    assert paths
    for path in paths:
        # `on` is a key, not the Boolean of YAML 1.1.
        content = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8"))).replace('"true":', '"on":'))
        assert [f"{path.name}: {error.json_path}: {error.message}" for error in validator.iter_errors(content)] == []


def test_the_hooks_run_what_exists() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]:
        program = hook["entry"].split()[0]
        assert program.startswith(".venv/bin/") or os.access(ROOT / program, os.X_OK), hook["id"]


@pytest.mark.slow
def test_the_list_of_packages_has_all_locked_ones() -> None:
    listed = json.loads(subprocess.run([ROOT / "bin" / "sbom"], capture_output=True, check=True).stdout)
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6")
    locked = re.findall(r"^([a-z0-9-]+)==([\w.+]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    assert {(part["name"], part["version"]) for part in listed["components"]} == set(locked)
    assert all(part["externalReferences"][0]["hashes"] for part in listed["components"])


def test_the_documentation_is_built_whatever_the_locale(tmp_path: Path) -> None:
    """As on a server that takes the locale of an SSH client, and does not have it installed."""
    (interpreter := tmp_path / ".venv" / "bin" / "python").parent.mkdir(parents=True)
    interpreter.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (bootstrap := tmp_path / "bin" / "bootstrap").parent.mkdir()
    bootstrap.write_text("#!/bin/sh\n")
    script = shutil.copy(ROOT / "bin" / "docs", bootstrap.parent)
    for program in (interpreter, bootstrap):
        program.chmod(0o755)
    environment = {**os.environ, "LC_ALL": "xx_XX.UTF-8"}
    # Sphinx sets the locale before it reads its arguments.
    done = subprocess.run([script, "--version"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "sphinx" in done.stdout, done.stderr
