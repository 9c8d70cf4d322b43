"""Upgrades an earlier release's site in a new database, and reports the result; a test runs it as a process.

    python -m tests.support.older_site OLDER.sqlite3

The rows are those of a real site at migration 0015, without the columns added after 0012: the migrations 0013 to 0015
must produce the values that this site had there. HOLDOUT_DATABASE_URL names an empty database. Prints one JSON object.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from importlib import import_module
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.apps import apps as current  # noqa: E402  (models need django.setup first)
from django.core.management import call_command  # noqa: E402
from django.core.management.color import no_style  # noqa: E402
from django.db import DatabaseError, connection, connections, transaction  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from leaderboard.models import AuditEntry, GoldVersion, Leaderboard, Release, ReleaseSlice, Split, Submission, Team  # noqa: E402

BEGIN = ("leaderboard", "0012_notices")
ODD = {
    "measure": "accuracy",
    "slice": {"é": True, "transparency": 0.2, "name": "x"},
    "value": None,
    "low": None,
    "high": None,
    "n": 3,
}
"""A kind of slice that the older site lacks: values that are not text, and a missing value."""

RENAMED: Any = import_module("leaderboard.migrations.0027_standard_names")


def configure_older(path: str) -> None:
    """Configure the older site as the database `older`."""
    described = copy.deepcopy(connections.databases["default"])
    described |= {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "HOST": "", "PORT": "", "OPTIONS": {}}
    connections.databases["older"] = described


def copy_rows(models: list[Any]) -> None:
    """Copy all rows, with the columns of these models. Foreign keys are checked at the end."""
    with transaction.atomic():
        for model in models:
            for field in model._meta.local_concrete_fields:
                field.auto_now = field.auto_now_add = False
            rows = list(model._base_manager.using("older"))
            if model.__name__ == "Release":
                rows[0].values = [*rows[0].values, ODD]
            model._base_manager.using("default").bulk_create(rows)
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)


def add_rows(apps: Any) -> None:
    """Add a row of each kind that later migrations change and the older site lacks."""
    get, at = (lambda name: apps.get_model("leaderboard", name)._base_manager), timezone.now()
    phase, person = get("Phase").order_by("pk").first(), get("User").order_by("pk").first()
    times = {"began_at": at, "touched_at": at}
    get("ImageUpload").create(phase=phase, by=person, name="a.tar", bytes=10, received=4, pieces=["pieces/1"], **times)
    get("ReportedResult").create(
        benchmark=phase.benchmark, system="KL", paper="A paper", split="test", values=[{"measure": "accuracy"}]
    )
    hook = get("Webhook").create(user=person, url="https://hooks.example/", created_at=at)
    get("Notice").create(user=person, webhook=hook, subject=hook.pk, body={"event": "test"}, due_at=at, created_at=at)
    get("Score").create(
        run=get("Run").first(), measure="accuracy", slice={"a": "b"}, slice_key="a" * 400, value=0.5, n=1
    )


def snapshot(models: list[Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return every row by table and key, column by column."""
    return {
        model._meta.db_table: {
            str(row["pk"]): _plain(row) for row in model._base_manager.values("pk", *_columns(model))
        }
        for model in models
    }


def _columns(model: Any) -> list[str]:
    return [field.attname for field in model._meta.local_concrete_fields]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    json_row: dict[str, Any] = json.loads(json.dumps(row, default=str))
    return json_row


def differences(before: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return the rows that are gone or have other values, in columns that still exist."""
    differing = []
    models = {model._meta.db_table: model for model in current.get_models(include_auto_created=True)}
    tables = {f"leaderboard_{old.lower()}": f"leaderboard_{new.lower()}" for old, new in RENAMED.MODELS.items()}
    for table, rows in before.items():
        model = models[tables.get(table, table)]
        rows_after = snapshot([model])[model._meta.db_table]
        fields = RENAMED.FIELDS.get(model._meta.model_name, {})
        names = fields | {f"{old}_id": f"{new}_id" for old, new in fields.items()}
        for key, older in rows.items():
            row = {names.get(name, name): value for name, value in older.items()}
            columns = row.keys() & set(_columns(model))
            differing += [
                f"{table} {key} {name}" for name in columns if rows_after.get(key, {}).get(name, ...) != row[name]
            ]
    return sorted(differing)


def slices(database: str) -> list[list[Any]]:
    """Return the slices of each release; `scores` is the present name of the column `cells`."""
    table = connections[database].introspection
    with connections[database].cursor() as cursor:
        names = {column.name for column in table.get_table_description(cursor, "leaderboard_releaseslice")}
        scores = "scores" if "scores" in names else "cells"
        cursor.execute(f"SELECT release_id, slice_key, dimensions, {scores} FROM leaderboard_releaseslice")
        rows = [[*row[:3], json.loads(row[3]) if isinstance(row[3], str) else row[3]] for row in cursor.fetchall()]
    return sorted(rows)


def boards() -> list[dict[str, Any]]:
    """Return when each board was created and shown, and when its releases were received and released."""
    dates = []
    for board in Leaderboard.objects.order_by("pk"):
        on_it = {"run__gold_version": board.gold_version_id, "run__task_version": board.task_version}
        releases = Release.objects.filter(phase=board.phase_id, **on_it).order_by("pk")
        dates.append(
            {
                "created_at": board.created_at.isoformat(),
                "shown_from": board.shown_from and board.shown_from.isoformat(),
                "told": [
                    [received.isoformat(), released.isoformat()]
                    for received, released in releases.values_list("submission__received_at", "released_at")
                ],
            }
        )
    return dates


def database_errors() -> dict[str, str]:
    """Return the database's errors for changes of immutable rows, and for rows that violate constraints."""
    split = Split.objects.first()
    tries = {
        "a release's values": lambda: Release.objects.update(values=[]),
        "gold's digest": lambda: GoldVersion.objects.update(sha256="0" * 64),
        "an act": lambda: AuditEntry.objects.update(action="nothing"),
        "a submission's track": lambda: Submission.objects.update(track="another"),
        "a slice twice": lambda: ReleaseSlice.objects.create(
            release=ReleaseSlice.objects.filter(slice_key="")[0].release, slice_key="", dimensions="", scores={}
        ),
        "a published split without a date": lambda: Split.objects.filter(pk=split.pk if split else 0).update(
            published_at=None
        ),
    }
    answers = {}
    for name, act in tries.items():
        try:
            with transaction.atomic():
                act()
            answers[name] = ""
        except DatabaseError as error:
            answers[name] = str(error).splitlines()[0]
    return answers


def missing_constraints() -> list[str]:
    """Return constraints and indexes that models declare and tables lack."""
    missing = []
    with connection.cursor() as cursor:
        for model in current.get_app_config("leaderboard").get_models():
            existing = connection.introspection.get_constraints(cursor, model._meta.db_table)
            declared = [*model._meta.constraints, *model._meta.indexes]
            missing += [constraint.name for constraint in declared if constraint.name not in existing]
    return missing


def main(path: str) -> dict[str, Any]:
    configure_older(path)
    executor = MigrationExecutor(connection)
    # New databases skip the migrations of this site's release.
    executor.loader.replace_migrations = False
    executor.loader.build_graph()
    executor.migrate([BEGIN])
    apps = executor.loader.project_state([BEGIN]).apps
    models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label == "leaderboard"  # rows of other apps (sessions, permissions) are created again
        and not {"group", "permission"} & {field.name for field in model._meta.fields}
    ]
    copy_rows(models)
    add_rows(apps)
    rows_before = snapshot(models)
    call_command("migrate", verbosity=0)
    answer = Client(headers={"host": "localhost"}).get("/api/v1/benchmarks/")
    return {
        "rows": sum(len(rows) for rows in rows_before.values()),
        "differences": differences(rows_before),
        "slices": slices("default"),
        "slices_expected": slices("older"),
        "boards": boards(),
        "splits": [
            [str(value) for value in row] for row in Split.objects.values_list("state", "published_at", "created_at")
        ],
        "refused": database_errors(),
        "missing": missing_constraints(),
        "next_key_is_free": Team.objects.create(name="Another").pk not in map(int, rows_before["leaderboard_team"]),
        "api": [answer.status_code, answer.content.decode()],
    }


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
