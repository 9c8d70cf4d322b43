"""On PostgreSQL a frozen process holds up nobody: sessions have timeouts; submissions need no lock of publishers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import delete_account, invitations, membership, teams, tokens
from leaderboard.core import chunked_upload, db_locks, row_locks
from leaderboard.models import AuditEntry, Benchmark, ImageUpload, Phase, Split, Team, User, Webhook
from leaderboard.notifications.actions import webhooks
from leaderboard.operations import health
from leaderboard.scoring.actions import runs
from leaderboard.systems.actions import systems
from tests.support.api_calls import ROOT, client_of, error_of, footprint, send
from tests.support.postgresql import on_postgresql
from tests.support.rows.tiny_world import World, build, prediction_lines

pytestmark = [
    pytest.mark.django_db(transaction=True),
    on_postgresql,
]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build()
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    return world


def session(**seconds: int) -> psycopg.Connection[Any]:
    """Another process's connection to the test database, with the site's timeouts."""
    settings = connection.settings_dict
    return psycopg.connect(
        dbname=settings["NAME"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        host=settings["HOST"],
        port=settings["PORT"],
        **db_locks.session_options(**{"lock_seconds": 60, "idle_seconds": 60, **seconds}),
    )


@contextmanager
def frozen(table: str, key: int, **seconds: int) -> Iterator[psycopg.Connection[Any]]:
    """A process that stopped in the middle of a transaction in which it has locked a row as workers do."""
    with session(**seconds) as other:
        other.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR NO KEY UPDATE", [key])
        yield other
        other.close()


def test_a_frozen_publisher_does_not_delay_submissions(world: World) -> None:
    with frozen(Phase._meta.db_table, world.phase.pk) as other:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
        assert world.submit().phase == world.phase
        other.rollback()


def test_the_database_ends_a_frozen_transaction(world: World) -> None:
    with frozen(Phase._meta.db_table, world.phase.pk, idle_seconds=1) as other:
        with transaction.atomic():
            Phase.objects.select_for_update(no_key=True).get(pk=world.phase.pk)
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            other.execute("SELECT 1")


def test_a_migration_may_pause(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one transaction, in which Python may compute for minutes."""
    limits = []

    def note(*_: Any, **__: Any) -> None:
        limits.append(connection.cursor().execute(f"SHOW {db_locks.IDLE_LIMIT}").fetchone()[0])

    note()
    monkeypatch.setattr(migrate.Command, "handle", note)
    call_command("migrate")
    note()
    assert limits == [limits[0], "0", limits[0]] and limits[0] != "0"


LOCKS: dict[str, Callable[[World], object]] = {
    "phase": lambda world: row_locks.lock_phase(world.phase.pk),
    "split": lambda world: runs.lock_split(world.phase),
    "ranking": lambda world: db_locks.try_lock(db_locks.RANKING, world.phase.pk),
}


@pytest.mark.parametrize("lock", LOCKS)
def test_it_ends_soon_while_a_phase_waits(world: World, settings: Any, lock: str) -> None:
    """A lease later, all workers would have waited for the frozen one; other transactions may pause for longer."""
    settings.LOCK_IDLE_SECONDS = 77
    pause = "SELECT current_setting('idle_in_transaction_session_timeout')"
    with connection.cursor() as cursor:
        before = cursor.execute(pause).fetchone()
        with transaction.atomic():
            LOCKS[lock](world)
            assert cursor.execute(pause).fetchone() == ("77s",)
        assert cursor.execute(pause).fetchone() == before


def test_a_submission_that_waits_for_a_lock_too_long_says_so(world: World) -> None:
    with frozen(Split._meta.db_table, world.split.pk), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError) as raised:
            world.submit()
        assert db_locks.transient_message(raised.value) == db_locks.BUSY
        cursor.execute("RESET lock_timeout")


BY_A_USER: dict[str, Callable[[World, User], object]] = {
    "invite": lambda world, by: invitations.invite(team=world.system.team, address="bob@holdout.example", by=by),
    "first team": lambda world, by: teams.of(world.curator),
    "token": lambda world, by: tokens.issue(by=by),
    "upload": lambda world, by: chunked_upload.begin(
        ImageUpload, by=by, name="i.tar", size=1, sha256="", phase=world.phase
    ),
    "webhook": lambda world, by: webhooks.add(url="https://example.org/", by=by),
    "test call": lambda world, by: webhooks.test(webhook=Webhook.objects.get(), by=by),
    "describe": lambda world, by: systems.describe(system=world.system, by=by, bibtex="", anonymous_until=None),
    "anonymous": lambda world, by: systems.describe(
        system=teams.system(team=world.system.team, name="Another", by=by),
        by=by,
        bibtex="",
        anonymous_until=timezone.now() + timedelta(days=1),
    ),
}


@pytest.mark.parametrize("act", BY_A_USER)
def test_a_submission_under_way_holds_up_no_action_of_its_user(world: World, act: str) -> None:
    """A submission locks its team and then its user and system, by foreign keys: who waits for it may be deadlocked."""
    Webhook.objects.create(user=world.researcher, url="https://example.com/", created_at=timezone.now())
    with session() as other, connection.cursor() as cursor:
        for row in (world.curator, world.researcher, world.system):
            other.execute(f"SELECT 1 FROM {row._meta.db_table} WHERE id = %s FOR KEY SHARE", [row.pk])
        cursor.execute("SET lock_timeout = '1s'")
        BY_A_USER[act](world, world.researcher)
        cursor.execute("RESET lock_timeout")


def test_a_submission_under_way_is_not_deadlocked_with_a_deletion(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deletion waits for the team, which the submission has locked before it names its user."""
    held = membership.held

    def submit_in_between(team: Team) -> Team:
        with session() as other:
            other.execute(f"SELECT 1 FROM {User._meta.db_table} FOR KEY SHARE NOWAIT")
        return held(team)

    monkeypatch.setattr(membership, "held", submit_in_between)
    delete_account.delete(user=world.researcher)
    assert not User.objects.get(pk=world.researcher.pk).is_active


def test_a_database_that_is_away_answers_503(world: World) -> None:
    client = Client(raise_request_exception=False)
    with session() as other:
        pid = connection.cursor().execute("SELECT pg_backend_pid()").fetchone()[0]
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    answer = client.get("/api/v1/benchmarks/tiny/")
    assert (answer.status_code, answer["Retry-After"]) == (503, str(db_locks.RETRY_AFTER))
    assert error_of(answer) == {"code": "busy", "message": db_locks.AWAY}
    connection.close()
    assert client.get("/api/v1/benchmarks/tiny/").status_code == 200


@pytest.fixture
def unanswered(world: World) -> Iterator[socket.socket]:
    """The site's database is a port that accepts connections and never answers. Closed, it refuses them."""
    connection.close()
    options, port = connection.settings_dict["OPTIONS"], connection.settings_dict["PORT"]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # The shortest timeout that psycopg accepts.
        connection.settings_dict.update(PORT=listening.getsockname()[1], OPTIONS={**options, "connect_timeout": 2})
        yield listening
    connection.settings_dict.update(PORT=port, OPTIONS=options)
    connection.close()


def requests(world: World) -> dict[str, Callable[[Client], Any]]:
    """Return one request of each kind, as functions of the client."""
    pages = ("/", "/benchmarks/tiny/", "/benchmarks/tiny/test/", "/accounts/login/", "/admin/", "/me/submissions/")
    api = ("benchmarks/", "benchmarks/tiny/", "benchmarks/tiny/phases/test/leaderboard/", "submissions/")
    person = {"username": "ada", "password": "correct horse"}

    def upload(client: Client) -> Any:
        form = {"system": world.system.pk, "file": SimpleUploadedFile("p.jsonl", prediction_lines())}
        return client.post("/benchmarks/tiny/test/submit/", form)

    return {
        **{page: partial(Client.get, path=page) for page in pages},
        **{path: partial(Client.get, path=f"{ROOT}/{path}") for path in api},
        "log-in": lambda client: client.post("/accounts/login/", {"login": "ada", "password": "correct horse"}),
        "token": lambda client: client.post(f"{ROOT}/auth/tokens/", person, content_type="application/json"),
        "upload": upload,
        "upload to the API": lambda client: send(client, prediction_lines()),
    }


def test_every_request_answers_503_while_the_database_refuses(world: World, request: pytest.FixtureRequest) -> None:
    with_session = Client(raise_request_exception=False)
    with_session.force_login(world.researcher)
    clients = {"log-in": client_of(), "token": client_of(), "upload to the API": client_of(world.researcher)}
    request.getfixturevalue("unanswered").close()
    answers = {name: act(clients.get(name, with_session)) for name, act in requests(world).items()}
    statuses = {name: (answer.status_code, answer.get("Retry-After")) for name, answer in answers.items()}
    assert statuses == dict.fromkeys(statuses, (503, str(db_locks.RETRY_AFTER)))
    assert all(db_locks.AWAY in answer.content.decode() for answer in answers.values())


def test_a_database_that_never_answers(unanswered: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Client(raise_request_exception=False).get("/benchmarks/tiny/")
    assert (answer.status_code, answer["Retry-After"]) == (503, str(db_locks.RETRY_AFTER))
    monkeypatch.setattr(health, "PATIENCE", 0.5)
    ready = Client().get("/health/ready")
    assert (ready.status_code, ready.json()["database"]) == (503, False)


def test_a_connection_that_is_lost_in_the_middle_of_an_upload(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    record, pid = AuditEntry.record, connection.cursor().execute("SELECT pg_backend_pid()").fetchone()[0]
    client, before = client_of(world.researcher), footprint()

    def cut(*arguments: Any, **more: Any) -> Any:
        """Write the last row of the transaction on a connection that ends before."""
        with session() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        return record(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(AuditEntry, "record", cut)
        answer = send(client, prediction_lines())
    assert (answer.status_code, error_of(answer)) == (503, {"code": "busy", "message": db_locks.AWAY})
    assert footprint() == before
    assert send(client, prediction_lines()).status_code == 201
