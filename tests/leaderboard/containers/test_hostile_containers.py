"""Hostile systems on the site: submitted, run by the engine, ended, charged; the next honest submission scores
correctly.

The behaviour inside each container is tested in `tests/container/systems`. Here the whole path is tested: one terminal
state, the text shown to the participant, and that neither a container nor its sender can read hidden data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.test import Client

from leaderboard.models import AuditEntry, Prediction, QuotaCharge, Reason, Run, State
from tests.support import container_images
from tests.support.api_calls import client_of, person
from tests.support.crawler import read
from tests.support.image_fixtures import accuracy, needs_engine, submit, work
from tests.support.rows import tiny_world
from tests.support.rows.tiny_world import LABELS, World

pytest_plugins = ["tests.support.image_fixtures"]
pytestmark = [pytest.mark.engine, pytest.mark.hostile, pytest.mark.django_db(transaction=True), needs_engine]

LIMITS = {
    "wall_seconds": 4,
    "memory_bytes": 128_000_000,
    "processes": 32,
    "output_bytes": 1_000_000,
    "output_files": 20,
    "log_bytes": 8_000,
}
ANSWER = container_images.answering(LABELS)

PROGRAMS: dict[str, tuple[str, set[Reason]]] = {
    "fork bomb": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        {Reason.SYSTEM_TIME, Reason.SYSTEM_EXIT, Reason.SYSTEM_RESOURCES},
    ),
    "endless loop": ("while True: pass", {Reason.SYSTEM_TIME}),
    "sparse terabyte": (
        "f = open('/output/predictions.jsonl', 'wb')\nf.truncate(1 << 40)",
        {Reason.SYSTEM_EXIT, Reason.SYSTEM_OUTPUT, Reason.BAD_PREDICTIONS},
    ),
    "a scorer's report": (
        "open('/output/predictions.jsonl', 'w').write('{\"accuracy\": 1.0}')",
        {Reason.SYSTEM_OUTPUT, Reason.BAD_PREDICTIONS},
    ),
}
"""One of each kind; the sandbox's own suite (tests/container/systems) has the whole list."""


@pytest.fixture
def strict_world(world: World) -> World:
    world.phase.limits = LIMITS
    world.phase.save()
    return world


def assert_the_next_is_right(world: World, right: Path) -> None:
    assert container_images.left(settings.INSTANCE) == []
    world.phase.limits = {}
    world.phase.save()
    honest = submit(world, right)
    work()
    assert honest.predictions.get().state == State.DONE
    assert accuracy(honest) == 1.0


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_system_is_rejected_and_charged(
    strict_world: World, archives: Callable[[str], Path], right: Path, name: str
) -> None:
    program, expected = PROGRAMS[name]
    submission = submit(strict_world, archives(program))
    work()
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.attempt) == (State.REJECTED, 1), (prediction.reason, prediction.log)
    assert prediction.reason in expected, (prediction.reason, prediction.problems, prediction.log)
    assert prediction.cost["wall_seconds"] <= LIMITS["wall_seconds"] + 10
    assert QuotaCharge.objects.get(submission=submission).refunded_at is None
    assert not Run.objects.exists() and not prediction.file
    page = client_of(strict_world.researcher).get(f"/api/v1/submissions/{submission.pk}/").content.decode()
    assert "exit_code" not in page and str(settings.DATA) not in page
    assert_the_next_is_right(strict_world, right)


SEARCHING = """
import json, os, stat
word = ("CANARY-" + "of-gold").encode()
found = []
def look(path):
    try:
        with open(path, "rb") as file:
            if word in file.read(8 << 20):
                found.append(path)
    except OSError:
        pass
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
    for name in files:
        path = os.path.join(folder, name)
        if path != "/main.py" and stat.S_ISREG(os.lstat(path).st_mode):
            look(path)
for name in ("self/environ", "1/environ", "self/mountinfo", "self/cmdline", "cmdline", "self/cgroup", "net/unix"):
    look("/proc/" + name)
print("looked and found", found, "inputs", "HIDDEN-INPUT" in open("/input/inputs.jsonl").read())
"""


def test_gold_is_not_readable_by_a_container_or_its_sender(
    strict_world: World, archives: Callable[[str], Path], right: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The canary is in gold's file, the database, and the worker's environment and folders."""
    canary = "CANARY-" + "of-gold"
    for path in (Path(strict_world.gold.file.path), settings.DATA / "canary.txt"):
        path.chmod(0o600) if path.exists() else None
        path.write_bytes((path.read_bytes() if path.exists() else b"") + canary.encode())
    monkeypatch.setitem(os.environ, "HOLDOUT_CANARY", canary)
    AuditEntry.record("gold.looked_at", strict_world.gold, by=strict_world.curator, found=canary)
    strict_world.phase.limits = {"wall_seconds": 60}
    strict_world.phase.save()
    submission = submit(strict_world, archives(SEARCHING + ANSWER))
    work()
    prediction = submission.predictions.get()
    assert prediction.state == State.DONE, (prediction.reason, prediction.problems, prediction.log)
    assert "looked and found [] " in prediction.log
    assert canary not in json.dumps([prediction.cost, prediction.execution, prediction.problems, prediction.warnings])
    for client in (client_of(strict_world.researcher), logged_in(strict_world.researcher)):
        for answer in everything_readable(client, submission.pk):
            assert canary not in answer
    (settings.DATA / "canary.txt").unlink()


HIDING = {
    # A container may put hidden inputs into each output: the log, an unknown key, an id, a name, the exit status.
    "in its log": "print(secret, flush=True)\n" + ANSWER,
    "in a wrong id": "open('/output/predictions.jsonl', 'w').write(json.dumps({'id': secret, 'predicted_label': 'x'}))",
    "in a wrong label": (
        "open('/output/predictions.jsonl', 'w').write(json.dumps({'id': 'a1', 'predicted_label': secret}))"
    ),
    "in an unknown key": (
        f"with open('/output/predictions.jsonl', 'w') as out:\n    for name, label in {LABELS!r}.items():\n"
        "        out.write(json.dumps({'id': name, 'predicted_label': label, secret: 1}) + '\\n')"
    ),
    "in its error": "raise SystemExit(secret)",
    "in a file's name": "open('/output/' + secret, 'w').close()",
}


@pytest.mark.parametrize("how", HIDING)
def test_hidden_inputs_are_not_shown_to_the_sender(world: World, archives: Callable[[str], Path], how: str) -> None:
    inputs = world.split.inputs.read().replace(b"claim 0", b"HIDDEN-INPUT")
    assert b"HIDDEN-INPUT" in inputs
    world.split.inputs.save("inputs.jsonl", ContentFile(inputs), save=False)
    world.split.inputs_sha256 = tiny_world.hashlib.sha256(inputs).hexdigest()
    world.split.inputs_public = False
    world.split.save()
    world.phase.split = world.split
    secret = "import json\nsecret = next(l for l in open('/input/inputs.jsonl') if 'HIDDEN-INPUT' in l)[:200]\n"
    secret += "secret = 'HIDDEN-' + json.loads(secret)['claim'][7:]\n"
    submission = submit(world, archives(secret + HIDING[how]))
    work()
    prediction = Prediction.objects.get(submission=submission)
    assert prediction.is_over
    if how in ("in its log", "in its error"):
        assert "HIDDEN-INPUT" in prediction.log, "the container reads them, and curators see its log"
    for client in (client_of(world.researcher), logged_in(world.researcher), client_of(person("grace")), Client()):
        for answer in everything_readable(client, submission.pk):
            assert "HIDDEN-INPUT" not in answer, answer[max(0, answer.find("HIDDEN-INPUT") - 200) :][:400]


def logged_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def everything_readable(client: Client, key: Any) -> list[str]:
    """Everything a person can read about a submission, including headers."""
    pages = ["", "state/", "receipt.json", "predictions/"]
    addresses = [
        *(f"/submissions/{key}/{part}" for part in pages),
        *(f"/api/v1/submissions/{key}/{part}" for part in ("", "scores/", "predictions/")),
        *("/", "/me/submissions/", "/benchmarks/tiny/", "/api/v1/submissions/", "/api/v1/benchmarks/tiny/"),
        *("/benchmarks/tiny/test/", "/api/v1/benchmarks/tiny/phases/test/leaderboard/"),
    ]
    answers = [read(client, address) for address in addresses]
    assert any(answer.status == 200 for answer in answers)
    return [answer.text.decode(errors="replace") for answer in answers]
