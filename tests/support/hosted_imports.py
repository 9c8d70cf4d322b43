"""Hosting of published files and submission of predictions, for tests of importers.

Put `pytest_plugins = ["tests.support.hosted_imports"]` into a test module. The fixture `send` submits by action, form
and API in turn; a module that needs only one of them defines its own fixture.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from django.core.files import File
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import opened
from leaderboard.models import Phase, Run, Split, State, Submission, System, User
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit
from tests.support.api_calls import client_of

Scores = dict[tuple[str, str], float | None]
Send = Callable[[Phase, Path, System], Submission]
Score = Callable[[Phase, Path], Scores]


class RefusedFile(Exception):
    """A file that was refused, with the text of the response."""


def track_of(phase: Phase) -> dict[str, str]:
    """Return the phase's first track, if it has tracks."""
    return {"track": phase.tracks[0]["name"]} if phase.tracks else {}


def by_action(phase: Phase, path: Path, system: System) -> Submission:
    with path.open("rb") as stream:
        file: Any = File(stream, name=path.name)
        try:
            entry = submit.Entry(system=system, by=system.team.members.get(), **track_of(phase))
            return submit.submit(phase=phase, entry=entry, file=file).submission
        except Refused as refused:
            assert refused.code is Code.INVALID_PREDICTIONS
            raise RefusedFile("\n".join(problem["text"] for problem in refused.problems)) from refused


def by_form(phase: Phase, path: Path, system: System) -> Submission:
    client = Client()
    client.force_login(system.team.members.get())
    with path.open("rb") as stream:
        fields = {"system": system.pk, "file": stream, **track_of(phase)}
        answer = client.post(reverse("submit", args=[phase.benchmark.slug, phase.slug]), fields)
    if answer.status_code == 422:
        raise RefusedFile(strip_tags(answer.content.decode()))
    assert answer.status_code == 302, answer.status_code
    return Submission.objects.get(pk=answer["Location"].split("/")[-2])


def by_api(phase: Phase, path: Path, system: System) -> Submission:
    address = reverse("api_submit", args=[phase.benchmark.slug, phase.slug])
    with path.open("rb") as stream:
        fields = {"system": system.name, "file": stream, **track_of(phase)}
        answer = client_of(system.team.members.get()).post(address, fields)
    if answer.status_code == 422:
        raise RefusedFile("\n".join(problem["text"] for problem in answer.json()["problems"]))
    assert answer.status_code == 201, answer.content
    return Submission.objects.get(pk=answer.json()["id"])


@pytest.fixture
def curator() -> User:
    return User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)


@pytest.fixture
def system() -> System:
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    return teams.system(team=teams.of(ada), name="Bernoulli", by=ada)


@pytest.fixture
def send(request: pytest.FixtureRequest) -> Send:
    """Return the way to submit: by the action, or what a test names of WAYS."""
    return cast(Send, getattr(request, "param", by_action))


WAYS = [by_action, by_form, by_api]


@pytest.fixture
def score(sandbox: str, system: System, send: Send, settings: Any) -> Score:
    """Return a callable that submits and scores a file in the real sandbox.

    It returns values by (measure, slice as canonical JSON).
    """
    settings.RESAMPLES = 20  # intervals are tested elsewhere; values do not depend on them

    def scored(phase: Phase, path: Path) -> Scores:
        submission = send(phase, path, system)
        run = Run.objects.get(prediction__submission=submission)
        runs.WORK.run(run.pk)
        run.refresh_from_db()
        assert run.state == State.DONE, (run.reason, run.problems)
        assert submission.releases.count() == 1
        return {(row.measure, row.slice_key): row.value for row in run.scores.all()}

    return scored


def host(*arguments: Any, **options: Any) -> str:
    output = StringIO()
    call_command("import_benchmark", *map(str, arguments), stdout=output, **options)
    return output.getvalue()


def phase_of(slug: str, phase: str) -> Phase:
    return Phase.objects.select_related("split__dataset", "benchmark").get(benchmark__slug=slug, slug=phase)


def inputs_of(split: Split) -> list[dict[str, Any]]:
    with opened(split.inputs) as file:
        return [json.loads(line) for line in file]


def agree(scores: Scores, expected: dict[tuple[str, str], float]) -> None:
    wrong = {
        key: (scores.get(key), value)
        for key, value in expected.items()
        if scores.get(key) != pytest.approx(value, abs=1e-9)
    }
    assert not wrong, wrong
    assert expected
