"""Runs the site with an installed task in a separate process: hosts a benchmark, scores a submission, reads the board.

Arguments: folder with test.jsonl and train.jsonl, predictions file. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse


def main(gold: Path, predictions: Path) -> None:
    django.setup()
    setup_test_environment()
    call_command("migrate", verbosity=0)
    from leaderboard.operations import embedded

    server = embedded.start_sandbox()
    try:
        print(json.dumps(_hosted(gold, predictions)))
    finally:
        server.terminate()
        server.wait()


def _hosted(gold: Path, predictions: Path) -> dict[str, object]:
    from django.core.checks import run_checks

    from leaderboard.accounts.actions import teams
    from leaderboard.benchmarks.web.forms.benchmark import BenchmarkForm
    from leaderboard.models import Run, User
    from leaderboard.scoring.actions import runs
    from tests.support.hosted_imports import by_form, host, phase_of

    settings.RESAMPLES = 200
    User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    system = teams.system(team=teams.of(ada), name="Bernoulli", by=ada)
    host("text-classification", gold, slug="notes")
    phase = phase_of("notes", "test")
    submission = by_form(phase, predictions, system)
    run = Run.objects.get(prediction__submission=submission)
    runs.WORK.run(run.pk)
    run.refresh_from_db()
    client = Client()
    board = client.get(reverse("leaderboard", args=["notes", "test"]))
    pages = [reverse("home"), reverse("tasks"), reverse("measures", args=["text-classification"])]
    return {
        "state": run.state,
        "problems": run.problems,
        "scores": [[score.measure, score.slice_key, score.value, score.low, score.high] for score in run.scores.all()],
        "board": board.content.decode(),
        "choices": [name for name, _ in BenchmarkForm().fields["task"].choices],
        "pages": {page: client.get(page).status_code for page in pages},
        "checks": [str(message) for message in run_checks()],
    }


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
