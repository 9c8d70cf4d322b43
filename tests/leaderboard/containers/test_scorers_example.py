"""The example in docs/curators.md, copied from the page: built, uploaded with the plain form, set, and correct."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.containers.actions import run_scorer, workers
from leaderboard.models import Image, Run, Score, Scorer, State
from tests.conftest import ROOT
from tests.support import container_images
from tests.support.rows.tiny_world import LABELS, build

pytestmark = [
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
PAGE = (ROOT / "docs" / "curators.md").read_text().partition("## A scorer of your own")[2]


def code_block(heading: str) -> str:
    block = re.search(rf"^{heading}[^\n]*:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block, heading
    return block[1]


def test_the_example_works(
    sandbox: str, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    settings.SCORERS, settings.SCORER_MEMORY_MB = True, 256
    world = build()
    assert workers.report(queue=workers.SCORERS).ready
    monkeypatch.chdir(tmp_path)
    for name in ("`main.py`", "`Dockerfile`"):
        text = code_block(name)
        assert len([line for line in text.splitlines() if line]) <= 10, "the page says it has ten lines"
        Path(name.strip("`")).write_text(text)
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
    built_digest = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        subprocess.run(["docker", "save", "--output", "scorer.tar", built_digest], check=True)
        client.force_login(world.curator)
        measures = code_block("Its measures")
        with Path("scorer.tar").open("rb") as archive:
            form = {"file": archive, "measures": measures, "primary": json.loads(measures)[0]["name"], "reason": "ours"}
            answer = client.post(reverse("manage_scorers", args=["tiny"]), form)
        assert answer.status_code == 302, answer.content.decode()
        scorer = Scorer.objects.get()
        client.post(reverse("manage_scorer_attach", args=["tiny", "test"]), {"scorer": scorer.pk})
        submission = world.submit({**LABELS, "a1": "REFUTES"})
        run = Run.objects.get(prediction__submission=submission)
        run_scorer.WORK.run(run.pk)
    finally:
        subprocess.run(["docker", "image", "rm", built_digest], capture_output=True, check=False)
        for digest in Image.objects.exclude(digest="").values_list("digest", flat=True):
            subprocess.run(["docker", "image", "rm", digest], capture_output=True, check=False)
    run.refresh_from_db()
    assert run.state == State.DONE, run.detail
    (score,) = Score.objects.filter(run=run)
    assert (score.measure, score.value, score.n) == ("label_accuracy", 0.75, 4)
    page = client.get(reverse("leaderboard", args=["tiny", "test"])).content.decode()
    assert "label_accuracy" in page and "scorer 1</a>" in page
