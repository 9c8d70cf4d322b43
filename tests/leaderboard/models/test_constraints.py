"""Database constraints reject invalid rows from any writer."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from leaderboard.migrations._operations import IMMUTABLE, allow_updates, refuse_updates
from leaderboard.models import (
    AuditEntry,
    GoldVersion,
    Leaderboard,
    Phase,
    QuotaCharge,
    Release,
    Run,
    Score,
    State,
    Submission,
    System,
    Team,
)
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=build)


def refused(write):
    with pytest.raises(IntegrityError), transaction.atomic():
        write()


def test_a_terminal_state_has_a_finishing_time(world):
    run = world.insert_run()
    refused(lambda: Run.objects.filter(pk=run.pk).update(state=State.REJECTED))


def test_an_open_state_has_no_finishing_time(world):
    run = world.insert_run()
    refused(lambda: Run.objects.filter(pk=run.pk).update(finished_at=timezone.now()))


def test_only_a_running_run_has_a_lease(world):
    run = world.insert_run()
    refused(lambda: Run.objects.filter(pk=run.pk).update(state=State.RUNNING))
    refused(lambda: Run.objects.filter(pk=run.pk).update(lease_until=timezone.now()))


def test_an_unknown_state_is_refused(world):
    run = world.insert_run()
    refused(lambda: Run.objects.filter(pk=run.pk).update(state="resting"))


def test_a_done_run_has_outcomes(world):
    run = world.insert_run()
    refused(lambda: Run.objects.filter(pk=run.pk).update(state=State.DONE, finished_at=timezone.now()))


def test_one_live_run_per_prediction_gold_and_task_version(world):
    run = world.insert_run()
    same = {"prediction": run.prediction, "gold_version": run.gold_version, "queued_at": run.queued_at}
    refused(lambda: Run.objects.create(**same, task_version=1, enqueued_at=run.enqueued_at))
    Run.objects.create(**same, task_version=2, enqueued_at=run.enqueued_at)
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, finished_at=timezone.now())
    Run.objects.create(**same, task_version=1, enqueued_at=run.enqueued_at)


def test_one_score_per_measure_and_slice_with_ordered_bounds(world):
    run = world.insert_run()
    Score.objects.create(run=run, measure="accuracy", value=0.5, low=0.4, high=0.6, n=4)
    refused(lambda: Score.objects.create(run=run, measure="accuracy", value=0.5, n=4))
    refused(lambda: Score.objects.create(run=run, measure="f1", value=0.5, low=0.6, high=0.4, n=4))
    refused(lambda: Score.objects.create(run=run, measure="f1", value=0.5, low=0.6, n=4))
    refused(lambda: Score.objects.create(run=run, measure="f1", value=0.0, n=0))


def test_quota_is_charged_once_per_submission(world):
    submission = world.insert_run().prediction.submission
    fields = {"submission": submission, "phase": world.phase, "team": world.system.team}
    refused(lambda: QuotaCharge.objects.create(**fields, charged_at=timezone.now()))


def test_a_phase_closes_after_it_opens_and_allows_something(world):
    at = timezone.now()
    row = {"benchmark": world.benchmark, "split": world.split, "title": "Final"}
    refused(lambda: Phase.objects.create(**row, slug="f", opens_at=at, closes_at=at - timedelta(days=1)))
    refused(lambda: Phase.objects.create(**row, slug="f", quota_per_day=0))
    refused(lambda: Phase.objects.create(**row, slug="test"))


def test_one_current_leaderboard_per_phase(world):
    board = {"phase": world.phase, "gold_version": world.gold, "state": Leaderboard.State.CURRENT}
    Leaderboard.objects.create(**board, task_version=1)
    refused(lambda: Leaderboard.objects.create(**board, task_version=2))


def test_names_are_unique(world):
    refused(lambda: Team.objects.create(name=world.system.team.name.upper()))
    refused(lambda: System.objects.create(team=world.system.team, name=world.system.name))


def test_gold_needs_units_and_a_number(world):
    row = {
        field.name: getattr(world.gold, field.name) for field in GoldVersion._meta.concrete_fields if field.name != "id"
    }
    refused(lambda: GoldVersion.objects.create(**row))
    refused(lambda: GoldVersion.objects.create(**{**row, "number": 2}))
    refused(lambda: GoldVersion.objects.create(**{**row, "number": 0, "sha256": "0" * 64}))
    refused(lambda: GoldVersion.objects.create(**{**row, "number": 2, "sha256": "1" * 64, "n_groups": 5}))


def test_no_migration_has_dropped_a_trigger():
    """On SQLite, a migration that alters a table copies it, without its triggers."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
            if connection.vendor == "postgresql"
            else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        )
        present = {name for (name,) in cursor.fetchall()}
    assert present == {"leaderboard_submission_track", *(f"{table}_immutable" for table in IMMUTABLE)}


def test_a_declared_track_is_immutable(world):
    submission = Submission.objects.filter(pk=world.insert_run(track="simple").prediction.submission_id)
    with pytest.raises(DatabaseError), transaction.atomic():
        submission.update(track="thorough")
    submission.update(note="another")
    assert submission.values_list("track", "note").get() == ("simple", "another")


@pytest.mark.parametrize("table", ["gold", "audit", "release"])
def test_immutable_tables_reject_changes(world, table):
    if table == "gold":
        rows, change = GoldVersion.objects.filter(pk=world.gold.pk), {"reason": "rewritten"}
    elif table == "audit":
        entry = AuditEntry.record("tried", world.phase, by=world.curator)
        rows, change = AuditEntry.objects.filter(pk=entry.pk), {"action": "rewritten"}
    else:
        run = world.insert_run()
        release = Release.objects.create(
            phase=world.phase,
            sequence=1,
            run=run,
            submission=run.prediction.submission,
            policy="full",
            primary="accuracy",
            values=[],
            released_at=timezone.now(),
        )
        rows, change = Release.objects.filter(pk=release.pk), {"values": [1]}
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.update(**change)


def test_a_migration_may_change_immutable_rows_and_forbid_it_again(world):
    rows, editor = GoldVersion.objects.filter(pk=world.gold.pk), connection.SchemaEditorClass(connection)
    allow_updates("leaderboard_goldversion").code(apps, editor)
    assert rows.update(reason="rewritten") == 1
    for _ in range(2):  # as a migration on SQLite, and PostgreSQL, which has kept it
        refuse_updates("leaderboard_goldversion").code(apps, editor)
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.update(reason="again")
