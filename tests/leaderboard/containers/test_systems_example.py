"""The example in docs/systems.md, copied from the page: built, run, and correct."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from evaluator.cli.main import main
from tests.conftest import ROOT
from tests.support import container_images

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
CLAIMS = {"a1": ("It is not so.", "REFUTES"), "a2": ("It is so.", "SUPPORTS"), "ä3": ("Nothing rhymes.", "SUPPORTS")}


def test_the_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "systems.md").read_text()
    for name in ("main.py", "Dockerfile"):
        block = re.search(rf"^`{name}`:\n\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert block, name
        assert len(block[1].split("\n")) <= 10, "the page says it has ten lines"
        Path(name).write_text(block[1])
    lines = [{"id": name, "claim": claim, "evidence_text": "e"} for name, (claim, _) in CLAIMS.items()]
    Path("inputs.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    command = [
        "docker",
        "build",
        "--quiet",
        "--network",
        "none",
        "--build-arg",
        f"BASE_IMAGE={container_images.BASE}",
        ".",
    ]
    digest = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        status = main(["run", digest, "--task", "fact-verification", "--inputs", "inputs.jsonl"])
    finally:
        subprocess.run(["docker", "image", "rm", digest], capture_output=True, check=False)
    assert status == 0, capsys.readouterr().err
    answers = [json.loads(line) for line in Path("predictions.jsonl").read_text().splitlines()]
    assert {line["id"]: line["predicted_label"] for line in answers} == {
        id_: label for id_, (_, label) in CLAIMS.items()
    }
