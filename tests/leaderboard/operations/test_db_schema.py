"""Code and schema: readiness compares them, work waits, requests get a 503, and migrations are expand and contract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState, ProjectState
from django.db.models.functions import Lower
from django.test import Client

from leaderboard.core import db_schema
from leaderboard.models import Run, State
from leaderboard.operations import health, periodic
from leaderboard.scoring.actions import runs
from tests.support.rows.tiny_world import build

FIRST = 2
"""Number of the first migration of the site that may be applied while older code runs."""
LATER = ("leaderboard", "9999_later")


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins without a result of an earlier check, and leaves none."""
    monkeypatch.setattr(db_schema, "_found", "")
    monkeypatch.setattr(db_schema, "_checked", float("-inf"))
    monkeypatch.setattr(health, "PATIENCE", 60.0)
    return


def apply_later(*, is_safe: bool) -> None:
    """Leave the traces of a migration that this code does not know."""
    MigrationRecorder(connection).record_applied(*LATER)
    if not is_safe:
        db_schema.require([LATER])


def take_back_own() -> None:
    """Leave the traces of a database that was not migrated by this release."""
    MigrationRecorder(connection).record_unapplied("leaderboard", db_schema.newest()["leaderboard"])


@pytest.fixture
def rows_of_migrations(transactional_db: None) -> Iterator[None]:
    """Restores the table of migrations, which the flush after a test leaves alone."""
    recorded = MigrationRecorder(connection).migration_qs
    before = list(recorded.values_list("app", "name"))
    yield
    recorded.filter(app__in=(db_schema.REQUIRED,)).delete()
    after = set(recorded.values_list("app", "name"))
    for app, name in after - set(before):
        recorded.filter(app=app, name=name).delete()
    for key in set(before) - after:
        MigrationRecorder(connection).record_applied(*key)


@pytest.mark.usefixtures("rows_of_migrations")
def test_code_is_not_ready_beside_a_migration_that_does_not_suit_it(sandbox: str) -> None:
    assert Client().get("/health/ready").status_code == 200
    apply_later(is_safe=False)
    response = Client().get("/health/ready")
    assert (response.status_code, response.json()["schema"]) == (503, False)
    assert "leaderboard.9999_later" in response.json()["reason"]
    assert "Replace the code of this host" in response.json()["reason"]


@pytest.mark.usefixtures("rows_of_migrations")
def test_code_is_not_ready_without_its_own_migrations(sandbox: str) -> None:
    take_back_own()
    response = Client().get("/health/ready")
    assert (response.status_code, response.json()["schema"]) == (503, False)
    assert db_schema.newest()["leaderboard"] in response.json()["reason"]
    assert "manage.py migrate" in response.json()["reason"]


@pytest.mark.usefixtures("rows_of_migrations")
def test_older_code_is_ready_beside_a_migration_that_is_safe(sandbox: str) -> None:
    apply_later(is_safe=True)
    assert Client().get("/health/ready").status_code == 200


@pytest.mark.usefixtures("rows_of_migrations")
def test_a_requirement_counts_once_its_migration_is_applied_and_for_code_that_lacks_it() -> None:
    db_schema.require([LATER])
    db_schema.require([LATER])
    assert db_schema.check() == "", "not applied, or taken back"
    MigrationRecorder(connection).record_applied(*LATER)
    assert "9999_later" in db_schema.check()
    recorded = MigrationRecorder(connection).migration_qs
    assert recorded.filter(app=db_schema.REQUIRED).count() == 1
    recorded.filter(app=db_schema.REQUIRED).delete()
    db_schema.require([("leaderboard", db_schema.newest()["leaderboard"])])
    assert db_schema.check() == "", "this code knows it"


@pytest.mark.usefixtures("rows_of_migrations")
@pytest.mark.parametrize("path", ["/", "/api/v1/benchmarks/"])
def test_requests_get_a_503_while_code_and_schema_differ(path: str) -> None:
    """Not an internal error from a column that the code does not find."""
    take_back_own()
    db_schema.check()
    response = Client().get(path)
    assert response.status_code == 503 and int(response["Retry-After"]) > 0
    assert "is being upgraded" in response.content.decode()
    MigrationRecorder(connection).record_applied("leaderboard", db_schema.newest()["leaderboard"])
    db_schema.check()
    assert Client().get(path).status_code == 200


@pytest.mark.usefixtures("rows_of_migrations")
def test_a_worker_whose_code_does_not_fit_uses_up_no_attempt(sandbox: str) -> None:
    world = build()
    run = world.submit().predictions.get().runs.get()
    apply_later(is_safe=False)
    runs.WORK.run(run.pk)
    waiting = Run.objects.get(pk=run.pk)
    assert (waiting.state, waiting.attempt) == (State.QUEUED, 0)


@pytest.mark.usefixtures("rows_of_migrations")
def test_beat_sweeps_nothing_while_its_code_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it say that it has, which the page *Operations* would show."""
    monkeypatch.setattr("leaderboard.core.db_locks.wait_briefly", lambda: None)
    beat = import_module("leaderboard.beat")
    sweeps: list[str] = []
    completed: list[float | None] = []

    def sweep_once(steps: Any, *, is_ready: Any, **_: Any) -> None:
        cache.delete(periodic.COMPLETED)
        rounds = iter((False, False, True))
        run({"step": lambda: sweeps.append("swept")}, seconds=0.2, wait=lambda _: next(rounds), is_ready=is_ready)
        completed.append(periodic.last_completed())

    run = periodic.run
    monkeypatch.setattr(periodic, "run", sweep_once)
    monkeypatch.setattr(beat.stored_files, "report_missing", lambda: None)
    monkeypatch.setattr(beat.process_reports, "report_periodically", lambda _: None)
    monkeypatch.setattr(beat.signal, "pthread_sigmask", lambda *_: None)
    apply_later(is_safe=False)
    beat.main()
    assert (sweeps, completed) == ([], [None])


@pytest.mark.usefixtures("rows_of_migrations")
def test_code_knows_what_its_squashed_migrations_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    squashed = migration(name="0001_squashed_9999_later", replaces=[LATER])
    monkeypatch.setattr(MigrationLoader, "load_disk", lambda loader: setattr(loader, "disk_migrations", {1: squashed}))
    monkeypatch.setattr(MigrationLoader, "build_graph", MigrationLoader.load_disk)
    db_schema._replaced.cache_clear()
    apply_later(is_safe=False)
    try:
        assert db_schema.check() == ""
    finally:
        db_schema._replaced.cache_clear()


def migration(*operations: Any, name: str = "9999_later", **attributes: Any) -> migrations.Migration:
    kind = type("Migration", (migrations.Migration,), {"operations": list(operations), **attributes})
    made: migrations.Migration = kind(name, "leaderboard")
    return made


def a_state() -> ProjectState:
    state = ProjectState()
    fields = [("id", models.AutoField(primary_key=True)), ("name", models.CharField(max_length=20))]
    state.add_model(ModelState("leaderboard", "System", fields))
    return state


def add(field: models.Field[Any, Any]) -> migrations.AddField:
    return migrations.AddField("system", "new", field)


def alter(**options: Any) -> migrations.AlterField:
    return migrations.AlterField("system", "name", models.CharField(**{"max_length": 20, **options}))


CHECK = models.CheckConstraint(condition=models.Q(id__gt=0), name="positive")
SAFE: dict[str, list[Any]] = {
    "null": [add(models.IntegerField(null=True))],
    "default of the database": [add(models.IntegerField(default=0, db_default=0))],
    "many to many": [add(models.ManyToManyField("leaderboard.system"))],
    "generated": [
        add(models.GeneratedField(expression=Lower("name"), output_field=models.TextField(), db_persist=True))
    ],
    "table, with all that belongs to it": [
        migrations.CreateModel("Other", [("id", models.AutoField(primary_key=True))]),
        migrations.AddField("other", "new", models.IntegerField(default=0)),
        migrations.AddConstraint("other", CHECK),
    ],
    "index": [migrations.AddIndex("system", models.Index(fields=["name"], name="by_name"))],
    "wider": [alter(max_length=30)],
    "words only": [alter(help_text="x", choices=[("a", "A")], verbose_name="y", default="a")],
    "may be null": [alter(null=True)],
    "gets a default of the database": [alter(db_default="")],
    "leaves the models, not the database": [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("system", "name")], database_operations=[alter(db_default="")]
        )
    ],
}
UNSAFE: dict[str, tuple[list[Any], str]] = {
    "default of Python": ([add(models.IntegerField(default=0))], "adds the column system.new, which is NOT NULL"),
    "narrower": ([alter(max_length=10)], "changes the column system.name"),
    "unique": ([alter(unique=True)], "changes the column system.name"),
    "another column": ([alter(db_column="other")], "changes the column system.name"),
    "not null": ([alter(null=True), alter()], "changes the column system.name"),
    "another type": (
        [migrations.AlterField("system", "name", models.IntegerField())],
        "changes the column system.name",
    ),
    "dropped column": ([migrations.RemoveField("system", "name")], "remove field name from system"),
    "renamed column": ([migrations.RenameField("system", "name", "title")], "rename field name on system to title"),
    "dropped table": ([migrations.DeleteModel("System")], "delete model System"),
    "constraint": ([migrations.AddConstraint("system", CHECK)], "create constraint positive on model system"),
    "Python": ([migrations.RunPython(migrations.RunPython.noop)], "runs code of its own"),
    "SQL": ([migrations.SeparateDatabaseAndState([migrations.RunSQL("SELECT 1")])], "runs code of its own"),
}


@pytest.mark.parametrize("operations", SAFE.values(), ids=SAFE)
def test_what_older_code_can_leave_out_is_safe_with_it(operations: list[Any]) -> None:
    assert list(db_schema.obstacles(migration(*operations), a_state())) == []
    assert db_schema.required_code(migration(*operations), a_state()) is None


@pytest.mark.parametrize(("operations", "why"), UNSAFE.values(), ids=UNSAFE)
def test_nothing_else_is(operations: list[Any], why: str) -> None:
    (found,) = db_schema.obstacles(migration(*operations), a_state())
    assert found.startswith(why)
    assert db_schema.required_code(migration(*operations), a_state()) == LATER
    for declared, needed in (("", None), ("0071_x", ("leaderboard", "0071_x"))):
        judged = migration(*operations, safe_with=declared)
        assert db_schema.required_code(judged, a_state()) == needed


def faults(loader: MigrationLoader, key: tuple[str, str]) -> Iterator[str]:
    """Yield what is wrong with one of the site's migrations, and what its author has to do."""
    made = loader.disk_migrations[key]
    declared: str | None = getattr(made, "safe_with", None)
    if declared and not (declared < made.name and (made.app_label, declared) in loader.disk_migrations):
        yield f"safe_with is {declared!r}, expected the name of an earlier migration of the site, or an empty text"
    for obstacle in db_schema.obstacles(made, loader.project_state(key, at_end=False)):
        if "db_default" in obstacle:
            yield f"it {obstacle}: the code of the last release, which runs beside it, inserts rows without the column"
        elif declared is None:
            yield (
                f"one operation is to {obstacle}: does the code of the last release work beside it? Then let the "
                'migration say so: safe_with = "", or the name of the migration of an earlier release from which on '
                "the code neither reads nor writes it. Otherwise leave it to a later release"
            )


def test_the_sites_migrations_are_expand_and_contract() -> None:
    """The hosts of a site are upgraded one after the other: code of the last release runs beside each migration."""
    loader = MigrationLoader(None)
    own = sorted(key for key in loader.disk_migrations if key[0] == "leaderboard" and int(key[1][:4]) >= FIRST)
    assert [f"{name}: {fault}" for app, name in own for fault in faults(loader, (app, name))] == []


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (migration(add(models.IntegerField(default=0)), safe_with=""), "NOT NULL .* inserts rows without the column"),
        (migration(migrations.RemoveField("system", "facts")), "remove field facts .* safe_with"),
        (
            migration(migrations.RemoveField("system", "facts"), safe_with="9999_later"),
            "expected .* earlier migration",
        ),
    ],
)
def test_the_rule_names_what_breaks_it(made: migrations.Migration, expected: str) -> None:
    loader = MigrationLoader(None)
    made.dependencies = [("leaderboard", db_schema.newest()["leaderboard"])]
    loader.disk_migrations[LATER] = made
    loader.graph.add_node(LATER, made)
    loader.graph.add_dependency(made, LATER, made.dependencies[0])
    (fault,) = faults(loader, LATER)
    assert re.search(expected, fault)


def test_known_migrations_are_those_that_django_loads() -> None:
    assert db_schema.known() == MigrationLoader(None).disk_migrations.keys()


@pytest.mark.parametrize(
    ("code", "knows"),
    [({"leaderboard": "9999_later"}, True), ({"leaderboard": "0053_x", "knox": "9999_y"}, False), ({}, False)],
)
def test_code_knows_a_migration_by_its_number(code: dict[str, str], knows: bool) -> None:
    assert db_schema.knows(code, LATER) is knows
