"""What empties PostgreSQL between tests leaves nothing behind: no row, no loosened key, and numbers that go on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from leaderboard.models import Membership, System, Team
from tests import flushing
from tests.boards import stand
from tests.world import build

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs PostgreSQL (HOLDOUT_DATABASE_URL)"),
]
KEPT = {"django_migrations"}


@pytest.fixture(autouse=True)
def filled() -> Iterator[None]:
    world = build()
    stand(world, "First")
    stand(world, "Second", spent={"wall_seconds": 1.0})
    assert {"leaderboard_team", "leaderboard_team_members", "leaderboard_release"} & holding() - KEPT
    yield


def holding() -> set[str]:
    """The tables with a row."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        found = set()
        for name in names:
            cursor.execute(f"SELECT EXISTS (SELECT FROM {connection.ops.quote_name(name)})")
            if cursor.fetchone() == (True,):
                found.add(name)
    return found


def flush(*, reset_sequences: bool = False) -> None:
    """As Django's own test case does after each test."""
    call_command(
        "flush",
        verbosity=0,
        interactive=False,
        reset_sequences=reset_sequences,
        allow_cascade=False,
        inhibit_post_migrate=True,
    )


def test_every_table_is_empty() -> None:
    assert len(holding()) > 15
    flush()
    assert holding() <= KEPT
    assert not any(model._default_manager.exists() for model in apps.get_models())


def test_it_is_done_by_deleting() -> None:
    """Else the rest of this file says nothing of what tests are emptied by."""
    assert type(connection.ops).sql_flush is flushing._sql_flush
    said = connection.ops.sql_flush(None, ["one", "two"])
    assert not any("TRUNCATE" in line for line in said) and sum("DELETE" in line for line in said) == 2


def test_numbers_go_on_so_that_no_row_is_taken_for_an_earlier_one() -> None:
    last = Team.objects.create(name="Last").pk
    flush()
    assert Team.objects.create(name="Next").pk > last


def test_asked_for_numbers_begin_again() -> None:
    Team.objects.create(name="Last")
    flush(reset_sequences=True)
    assert holding() <= KEPT
    assert Team.objects.create(name="Next").pk == 1


def test_keys_hold_again_afterwards() -> None:
    flush()
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)
    with pytest.raises(IntegrityError), transaction.atomic():
        System.objects.create(team_id=10**9, name="of nobody")
        connection.check_constraints()
    team = Team.objects.create(name="Next")
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(team=team, user_id=10**9)
        connection.check_constraints()
    assert not System.objects.exists() and not Membership.objects.exists()


def test_checks_hold_again_afterwards() -> None:
    flush()
    Team.objects.create(name="Same")
    with pytest.raises(IntegrityError), transaction.atomic():
        Team.objects.create(name="same")
