"""Steps of the test of point-in-time recovery, each a process: `python -m tests.support.recovered_site STEP`.

They print JSON: what the site shows after the step.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django
from django.conf import settings

django.setup()

from django.test import Client  # noqa: E402

from evaluator.sandbox.process.launch import start  # noqa: E402
from leaderboard.models import Benchmark, Phase, Run, State, Submission, System, User  # noqa: E402
from leaderboard.scoring.actions import runs  # noqa: E402
from leaderboard.submissions.actions import submit as submissions  # noqa: E402
from tests.support.rows import tiny_world  # noqa: E402

BOARD = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
LABELS = tiny_world.LABELS


def submit(*, n_wrong: int) -> Submission:
    """Submit predictions of which some are wrong."""
    wrong = dict(LABELS)
    for key in list(LABELS)[:n_wrong]:
        wrong[key] = next(label for label in set(LABELS.values()) if label != LABELS[key])
    file = tiny_world.uploaded(tiny_world.prediction_lines(wrong))
    try:
        user, system = User.objects.get(username="ada"), System.objects.get(name="Bernoulli")
        entry = submissions.Entry(system=system, by=user)
        return submissions.submit(phase=Phase.objects.get(), entry=entry, file=file).submission
    finally:
        file.close()


def score_all() -> None:
    for pk in Run.objects.filter(state=State.QUEUED).order_by("queued_at").values_list("pk", flat=True):
        runs.WORK.run(pk)


def shown() -> dict[str, Any]:
    """Return the board as the API shows it, and the state of each submission's run."""
    board = json.loads(Client(headers={"Host": "localhost"}).get(BOARD).content)
    states = {str(run.prediction.submission_id): run.state for run in Run.objects.select_related("prediction")}
    return {"rows": board["rows"], "states": states, "benchmarks": Benchmark.objects.count()}


def main(step: str) -> None:
    server = start(settings.SANDBOX_SOCKET)
    try:
        if step == "before":
            tiny_world.build(quota_per_day=50)
            submit(n_wrong=2)
            score_all()
            submit(n_wrong=1)  # accepted and not scored at the moment of recovery
        elif step == "after":
            score_all()
            submit(n_wrong=0)
            score_all()
        elif step == "again":
            score_all()
    finally:
        server.terminate()
        server.wait()
    print(json.dumps(shown()))


if __name__ == "__main__":
    main(sys.argv[1])
