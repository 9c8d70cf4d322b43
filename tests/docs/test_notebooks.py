"""Executes the notebooks of docs/examples/ against a running site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluator.client import token_store
from leaderboard.accounts.actions import tokens
from leaderboard.models import Release, User
from tests.conftest import ROOT
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("**/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    import nbformat  # its import takes two seconds, which each process that collects the tests would spend

    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells and all(not cell.outputs and cell.execution_count is None for cell in cells)
    for cell in cells:
        compile(cell.source, str(path), "exec")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_notebook_from_inputs_to_a_comparison(
    stack: Stack, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.create_user("maria", "maria@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    call_command("import_benchmark", "own", str(ROOT / "fixtures" / "mirror-claims"), by="maria", verbosity=0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # for this process, and for the notebook's kernel
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("HOLDOUT_TOKEN", raising=False)
    token_store.write(token_store.StoredTokens(live_server.url, {live_server.url: tokens.issue(by=ada)[1]}))
    import nbclient
    import nbformat

    notebook = nbformat.read(ROOT / "docs" / "examples" / "notebooks" / "submit.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    outputs = [
        "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    assert "mirror-claims" in outputs[1] and "MAYBE" in outputs[4] and outputs[5] == "[]"
    assert outputs[6] == "'done'" and "origin=generated" in outputs[7] and "origin=generated" in outputs[9]
    assert "vega-lite" in outputs[11] and "Both deny" in outputs[12]
    assert {release.submission.system.name for release in Release.objects.all()} == {"No means no", "Both deny"}
