"""`manage.py migrate` beside a site that runs: one at a time, patiently, and never against older code that writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.core import db_clock, db_schema
from leaderboard.management.commands import migrate
from leaderboard.models import Team, User, WorkerReport
from leaderboard.models.worker import FRESH
from leaderboard.work_queue import process_reports
from tests.support.postgresql import on_postgresql

pytestmark = pytest.mark.django_db(transaction=True)
LATER = ("leaderboard", "9999_later")
TEAMS, USERS = Team._meta.db_table, User._meta.db_table
PATIENCE = 30.0


@pytest.fixture
def migrated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What Django's own command was asked to do; pauses take no time."""
    calls: list[str] = []
    monkeypatch.setattr(django_migrate.Command, "handle", lambda *_, **__: calls.append("migrated"))
    yield calls
    MigrationRecorder(connection).migration_qs.filter(app=db_schema.REQUIRED).delete()


@pytest.fixture
def unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pending migration beside which no older code works."""
    monkeypatch.setattr(migrate.Command, "_needed", lambda *_: {"leaderboard.9999_later": LATER})


def report(host: str, *, age: float = 0.0, newest: str = "0002_token_details") -> None:
    values = {"ready": True, "seen_at": db_clock.read() - timedelta(seconds=age)}
    detail = {process_reports.MIGRATIONS: {"leaderboard": newest}}
    WorkerReport.objects.update_or_create(queue="web", host=host, defaults={**values, "detail": detail})


@pytest.mark.usefixtures("unsafe")
def test_it_refuses_while_older_code_reports(migrated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    report("host-a", age=20)
    report("host-b", age=20, newest="9999_later")
    monkeypatch.setattr(migrate.time, "sleep", lambda _: report("host-a"))
    with pytest.raises(CommandError) as refused:
        call_command("migrate")
    assert migrated == []
    assert "Nothing was migrated" in str(refused.value) and "leaderboard.9999_later: web on host-a." in str(
        refused.value
    )
    assert "--stop-older-code" in str(refused.value)


@pytest.mark.usefixtures("unsafe")
def test_it_waits_until_the_last_report_of_a_stopped_process_is_old(
    migrated: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report("host-a", age=20)
    monkeypatch.setattr(migrate.time, "sleep", lambda _: report("host-a", age=FRESH.total_seconds() + 1))
    call_command("migrate")
    assert migrated == ["migrated"] and "until these have ended: web on host-a" in capsys.readouterr().out


@pytest.mark.usefixtures("unsafe")
def test_an_operator_may_stop_older_code_which_finds_that_it_does_not_fit(migrated: list[str]) -> None:
    report("host-a")
    call_command("migrate", stop_older_code=True)
    assert migrated == ["migrated"]
    MigrationRecorder(connection).record_applied(*LATER)
    try:
        assert "leaderboard.9999_later" in db_schema.check()
    finally:
        MigrationRecorder(connection).record_unapplied(*LATER)
        assert db_schema.check() == ""


def test_safe_migrations_are_applied_beside_older_code(migrated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    report("host-a")
    monkeypatch.setattr(migrate.Command, "_needed", lambda *_: {})
    call_command("migrate")
    assert migrated == ["migrated"]


@pytest.mark.usefixtures("unsafe")
@pytest.mark.parametrize("option", ["plan", "check_unapplied"])
def test_questions_wait_for_nobody(migrated: list[str], option: str) -> None:
    report("host-a")
    call_command("migrate", **{option: True})
    assert migrated == ["migrated"] and not MigrationRecorder(connection).migration_qs.filter(app=db_schema.REQUIRED)


def test_processes_report_their_code() -> None:
    thread = process_reports.report_periodically("web")
    try:
        stored = WorkerReport.objects.get(queue="web")
        assert stored.ready and stored.detail == {process_reports.MIGRATIONS: db_schema.newest()}
        needed = [("leaderboard", db_schema.newest()["leaderboard"])]
        since = db_clock.read() - FRESH
        assert process_reports.lacking(needed, since) == {}
        assert process_reports.lacking([*needed, LATER], since) == {f"web on {stored.host}": stored.seen_at}
        assert process_reports.lacking([LATER], db_clock.read()) == {}
    finally:
        thread.__exit__(None, None, None)


def session() -> psycopg.Connection[Any]:
    settings = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return psycopg.connect(**{name: settings[key] for name, key in names.items()})


@contextmanager
def django_does(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> Iterator[None]:
    """Let Django's command do this in one transaction, as a migration does, which is taken back afterwards."""

    def handle(*_: Any, **__: Any) -> None:
        with transaction.atomic():
            do()

    with monkeypatch.context() as patched:
        patched.setattr(django_migrate.Command, "handle", handle)
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                for table in (TEAMS, USERS):
                    cursor.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS later")


def add_column(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ADD COLUMN later integer")


def has_column(table: str) -> bool:
    with connection.cursor() as cursor:
        return "later" in {column.name for column in connection.introspection.get_table_description(cursor, table)}


@on_postgresql
def test_a_table_in_use_is_waited_for_briefly_and_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A request that needs the table would wait behind the migration for as long as that waits."""
    pauses: list[float] = []
    with session() as other:
        other.execute(f"SELECT count(*) FROM {TEAMS}")

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                other.rollback()

        monkeypatch.setattr(migrate.time, "sleep", pause)
        with django_does(monkeypatch, lambda: add_column(TEAMS)):
            call_command("migrate")
            assert has_column(TEAMS)
    assert pauses == [1, 2] and capsys.readouterr().err.count("The tables are in use; trying again") == 2


@on_postgresql
def test_beside_a_running_sweep_both_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds what the other one needs: the migration gives way, so that the sweep does not end in a deadlock."""
    altered, failed = threading.Event(), []
    with session() as sweep, session() as viewer:
        viewer.autocommit = True
        sweep.execute(f"SELECT count(*) FROM {USERS}")

        def go_on() -> None:
            try:
                assert altered.wait(PATIENCE)
                sweep.execute(f"SELECT count(*) FROM {TEAMS}")
                sweep.commit()
            except Exception as error:  # noqa: BLE001  asserted below
                failed.append(error)

        def alter_both() -> None:
            add_column(TEAMS)
            if not altered.is_set():
                altered.set()
                waits = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
                while not viewer.execute(waits, [sweep.info.backend_pid]).fetchone():
                    pass
            add_column(USERS)

        thread = threading.Thread(target=go_on)
        thread.start()
        with django_does(monkeypatch, alter_both):
            call_command("migrate")
            thread.join(PATIENCE)
            assert failed == [] and has_column(TEAMS) and has_column(USERS)


@on_postgresql
def test_a_migration_that_cannot_get_its_table_changes_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "PATIENCE", 0.0)

    def alter_both() -> None:
        add_column(USERS)
        add_column(TEAMS)

    with session() as other:
        other.execute(f"SELECT count(*) FROM {TEAMS}")
        with django_does(monkeypatch, alter_both):
            with pytest.raises(CommandError, match=r"tables are in use .* has changed nothing"):
                call_command("migrate")
            assert not has_column(USERS)
            other.rollback()


@on_postgresql
def test_one_process_at_a_time_migrates(migrated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with session() as other:
        assert other.execute("SELECT pg_try_advisory_lock(2, 0)").fetchone() == (True,)
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            assert migrated == []
            other.execute("SELECT pg_advisory_unlock(2, 0)")

        monkeypatch.setattr(migrate.time, "sleep", pause)
        call_command("migrate")
        assert migrated == ["migrated"] and len(pauses) == 1
        assert other.execute("SELECT pg_try_advisory_lock(2, 0)").fetchone() == (True,), "it is free again"
        monkeypatch.setattr(migrate, "PATIENCE", -1.0)
        with pytest.raises(CommandError, match=r"another manage\.py migrate"):
            call_command("migrate")
