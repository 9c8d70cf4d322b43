"""What was saved is answered as saved, whatever fails after the commit; and "nothing was saved" is said only if so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import invitations, teams
from leaderboard.containers.actions import image_uploads
from leaderboard.core import db_locks, saved
from leaderboard.core.api import tus
from leaderboard.models import Invitation, Phase, QuotaCharge, Submission, System, Team, WorkerReport
from tests.support.api_calls import ROOT, SUBMIT, client_of, error_of, person, send
from tests.support.rows.tiny_world import World, build, prediction_lines

pytestmark = pytest.mark.django_db(transaction=True)
TUS = {"Tus-Resumable": tus.VERSION, "Upload-Length": "5"}
REFERENCE = "registry.example/negation@sha256:" + "a" * 64


def _lost() -> Exception:
    """Return an error of the database's driver like that of a connection that was lost: it has no SQLSTATE."""
    kind = type("LostError", (connection.Database.OperationalError,), {"sqlstate": None})
    error: Exception = kind("server closed the connection unexpectedly")
    return error


@contextmanager
def lost_after_commit(n: int = 1) -> Iterator[None]:
    """The database answers no statement of this thread after n transactions with writes were committed."""
    has_written, left, commit = False, n, connection.commit

    def statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal has_written, left
        if not left:
            raise OperationalError("the connection is lost") from _lost()
        result = execute(sql, params, many, context)
        if sql.startswith(("INSERT", "UPDATE", "DELETE")) and not any(table in sql for table in saved._ASIDE):
            if connection.in_atomic_block:
                has_written = True
            else:
                left -= 1
        return result

    def then_lost() -> None:
        nonlocal has_written, left
        commit()
        left -= has_written
        has_written = False

    connection.commit = then_lost  # type: ignore[method-assign]
    try:
        with connection.execute_wrapper(statement):
            yield
    finally:
        del connection.commit  # type: ignore[attr-defined]


class _LostInCommit:
    """A driver's connection whose COMMIT is carried out by the server, and never answered."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def commit(self) -> None:
        self.inner.commit()
        raise _lost()


@contextmanager
def lost_in_commit() -> Iterator[None]:
    """The connection is lost while the database commits: the transaction is stored, and nobody is told."""
    connection.ensure_connection()
    inner = connection.connection
    connection.connection = _LostInCommit(inner)
    try:
        yield
    finally:
        connection.connection = inner


@pytest.fixture
def world(transactional_db: None, sandbox: str, settings: Any) -> World:
    settings.REGISTRIES = ["registry.example"]
    world = build()
    Phase.objects.update(takes_images=True)
    world.phase.refresh_from_db()
    WorkerReport.objects.create(queue="systems", host="there", ready=True, seen_at=timezone.now())
    return world


def file_of() -> SimpleUploadedFile:
    return SimpleUploadedFile("predictions.jsonl", prediction_lines())


def post(path: str, status: int = 201, **fields: Any) -> Callable[[Client], Any]:
    return lambda client: (client.post(f"{ROOT}/{path}", fields, content_type="application/json"), status)


def writers(world: World) -> dict[str, Callable[[Client], Any]]:
    """Return one request of each kind that writes and then reads, with the status that is expected."""
    phase = "benchmarks/tiny/phases/test"
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="image.tar", size=5)
    image_uploads.add(upload=upload, offset=0, chunk=b"image")
    own = teams.create(name="Own", by=world.researcher)
    mate = person("mate")
    invited = invitations.invite(team=teams.create(name="Theirs", by=mate), address="ada@holdout.example", by=mate)
    token = str(invited.link).rstrip("/").rpartition("/")[2]
    hidden = world.insert_run().prediction.submission
    return {
        "submission": lambda client: (send(client, prediction_lines()), 201),
        "reference": post(f"{phase}/images/references/", system="Bernoulli", reference=REFERENCE),
        "uploaded image": post(f"image-uploads/{upload.pk}/submission/", system="Bernoulli"),
        "tus": lambda client: (
            client.post(f"{ROOT}/{phase}/image-uploads/", b"", content_type=tus.MEDIA_TYPE, headers=TUS),
            201,
        ),
        "team": post("teams/", name="New"),
        "invitation": post(f"teams/{own.pk}/invitations/", address="b@holdout.example"),
        "answer": post("invitations/", status=200, token=token, answer="accept"),
        "hide": post(f"submissions/{hidden.pk}/hidden/", status=200),
        "put back": lambda client: (client.delete(f"{ROOT}/submissions/{hidden.pk}/hidden/"), 200),
        "rename": post(f"systems/{world.system.pk}/name/", status=200, name="Renamed"),
        "leave": lambda client: (client.delete(f"{ROOT}/teams/{invited.invitation.team_id}/membership/"), 204),
        "token": post("auth/tokens/", username=world.researcher.username, password="correct horse"),
        "revoke": lambda client: (client.delete(f"{ROOT}/auth/tokens/current/"), 204),
    }


def test_the_api_answers_what_was_saved(world: World) -> None:
    acts = writers(world)
    clients = {name: client_of(world.researcher) for name in acts}
    clients["invitation"].force_login(world.researcher)  # a token cannot invite
    del clients["invitation"].defaults["HTTP_AUTHORIZATION"]
    for client in clients.values():
        client.get(f"{ROOT}/systems/")  # notes the day of the token's use
    answers = {}
    for name, act in acts.items():
        with lost_after_commit(2 if name in ("reference", "uploaded image") else 1):  # the image has a row of its own
            answers[name] = act(clients[name])
    statuses = {name: (answer.status_code, answer.content) for name, (answer, _) in answers.items()}
    assert {name: status for name, (status, _) in statuses.items()} == {
        name: expected for name, (_, expected) in answers.items()
    }, statuses
    submission = answers["submission"][0]
    row = Submission.objects.get(pk=submission.json()["id"])
    assert submission["Location"] == submission.json()["url"] and submission.json()["state"] == "queued"
    assert row.charge.refunded_at is None and row.predictions.get().sha256 == submission.json()["file"]["sha256"]
    assert Team.objects.get(name="New").pk == answers["team"][0].json()["id"]
    assert System.objects.get(pk=world.system.pk).name == "Renamed"
    assert Invitation.objects.filter(answer="accepted").count() == 1


def test_pages_lead_to_what_was_saved(world: World) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(world.researcher)
    form = {"system": world.system.pk, "note": "", "file": file_of()}
    with lost_after_commit():
        answer = client.post("/benchmarks/tiny/test/submit/", form)
    assert (answer.status_code, answer["Location"]) == (302, Submission.objects.get().get_absolute_url())
    with lost_after_commit():
        answer = client.post("/me/tokens/", {"name": "cluster", "scope": "submit", "days": "30"})
    assert answer.status_code == 200 and answer["Cache-Control"] == "no-store"
    match = re.search(r"<code>(\w+)</code>", answer.content.decode())
    assert match
    listed = Client(headers={"Authorization": f"Token {match[1]}"}).get(f"{ROOT}/submissions/").json()
    assert [row["id"] for row in listed["results"]] == [str(Submission.objects.get().pk)]


@pytest.mark.parametrize("where", ["api", "page"])
def test_a_lost_answer_to_the_commit_is_told_as_it_is(world: World, where: str) -> None:
    page = Client(raise_request_exception=False)
    page.force_login(world.researcher)
    api = client_of(world.researcher)
    api.get(f"{ROOT}/systems/")
    with lost_in_commit():
        if where == "api":
            answer = send(api, prediction_lines())
        else:
            answer = page.post("/benchmarks/tiny/test/submit/", {"system": world.system.pk, "file": file_of()})
    text = answer.content.decode()
    assert answer.status_code == 503 and QuotaCharge.objects.count() == 1
    assert db_locks.MAY_BE_SAVED in text and db_locks.NOTHING_SAVED not in text


def test_nothing_was_saved_is_said_only_if_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's first submission makes the user's team first, in a transaction of its own."""
    client = client_of(person("grace"))
    client.get(f"{ROOT}/systems/")
    n_teams = Team.objects.count()
    with lost_after_commit():
        answer = client.post(SUBMIT, {"system": "New", "file": file_of()})
    assert (answer.status_code, Team.objects.count()) == (503, n_teams + 1), connection.vendor
    assert db_locks.MAY_BE_SAVED in error_of(answer)["message"]
