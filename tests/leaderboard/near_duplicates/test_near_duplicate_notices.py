"""Organisers get one notification about a near-duplicate of two systems; nobody else gets one."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.models import NearDuplicate, Notice, Phase, Prediction, Release, User, Webhook
from leaderboard.notifications.actions import deliver
from tests.support.api_calls import person
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
SYSTEMS = ("Bernoulli", "Copycat")


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def olga(world: World) -> User:
    """An organiser of the benchmark who has mail switched on."""
    return organiser(world, "olga")


def organiser(world: World, name: str) -> User:
    user = person_with_mail(name)
    world.benchmark.organisers.add(user)
    return user


def person_with_mail(name: str) -> User:
    """A person who has mail switched on."""
    user = person(name)
    User.objects.filter(pk=user.pk).update(mailed_since=timezone.now() - timedelta(days=30))
    return User.objects.get(pk=user.pk)


def pair(world: World, *, after: timedelta = timedelta(0), swapped: bool = False) -> NearDuplicate:
    """Two submissions of the two systems, found to be near-duplicates."""
    releases = [stand(world, name, team=f"Team of {name}") for name in SYSTEMS]
    return insert_pair(world, releases[::-1] if swapped else releases, after=after)


def insert_pair(world: World, releases: list[Release], *, after: timedelta = timedelta(0)) -> NearDuplicate:
    a, b = (Prediction.objects.get(submission=release.submission_id) for release in releases)
    shares: dict[str, Any] = {"equal": 1.0, "shared_errors": 1.0, "n_units": 4, "n_errors": 2}
    at = timezone.now() - timedelta(hours=1) + after
    return NearDuplicate.objects.create(phase=world.phase, a=a, b=b, detected_at=at, **shares)


def outbox() -> list[tuple[str, str]]:
    """Returns (recipient, channel) of each notice in the outbox."""
    rows = Notice.objects.order_by("user__username", "webhook")
    return [(row.user.username, "call" if row.webhook_id else "mail") for row in rows]


def test_only_organisers_are_notified(world: World, olga: User) -> None:
    quiet = person("quiet")
    world.benchmark.organisers.add(quiet)
    person_with_mail("stranger")
    User.objects.filter(pk__in=[world.curator.pk, world.researcher.pk]).update(mailed_since=olga.mailed_since)
    hook = Webhook.objects.create(user=olga, url="https://hooks.example/", created_at=olga.mailed_since)
    duplicate = pair(world)
    Notice.objects.all().delete()
    assert deliver.sweep() >= 2
    rows = Notice.objects.filter(body__event="near_duplicate.found")
    assert {(row.user, row.webhook) for row in rows} == {(olga, None), (olga, hook), (quiet, None)}
    assert rows.get(user=quiet).state == Notice.State.SITE
    assert {row.submission for row in rows} == {None}
    assert rows[0].body.items() >= {"benchmark": "tiny", "phase": "test"}.items()
    assert rows[0].body["page"].endswith("/benchmarks/tiny/near-duplicates/")
    assert duplicate.phase == world.phase


def test_notices_do_not_name_the_teams(world: World, olga: User) -> None:
    pair(world)
    deliver.sweep()
    (notice,) = Notice.objects.filter(user=olga)
    deliver.deliver(notice_id=notice.pk)
    (message,) = mail.outbox
    assert message.to == [olga.email] and message.subject == "Near-duplicates in tiny, test"
    for text in (message.subject + message.body, json.dumps(notice.body)):
        assert not any(name in text for name in SYSTEMS), text
    browser = Client()
    browser.force_login(olga)
    page = browser.get("/me/notifications/").content.decode()
    assert "near-duplicates" in page and not any(name in page for name in SYSTEMS)


def test_two_systems_are_notified_only_once(world: World, olga: User) -> None:
    pair(world)
    assert deliver.sweep() == 1
    pair(world, after=timedelta(minutes=1))
    pair(world, after=timedelta(minutes=2), swapped=True)
    assert deliver.sweep() == 0 and outbox() == [("olga", "mail")]
    # Much later the notice itself is deleted, and the pair is still not notified again.
    Notice.objects.all().delete()
    NearDuplicate.objects.filter(pk=NearDuplicate.objects.earliest("pk").pk).update(
        detected_at=timezone.now() - timedelta(days=40)
    )
    assert deliver.sweep() == 0 and outbox() == []


def test_another_pair_and_another_phase_are_notified(world: World, olga: User) -> None:
    first = pair(world)
    third = stand(world, "Third", team="Team of Third")
    insert_pair(world, [Release.objects.get(submission=first.a.submission_id), third])
    assert deliver.sweep() == 2
    world.phase = Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split)
    pair(world)
    assert deliver.sweep() == 1 and outbox() == [("olga", "mail")] * 3


def test_a_sweep_takes_a_constant_number_of_queries(world: World, olga: User) -> None:
    def query_count() -> int:
        deliver.sweep()
        with CaptureQueriesContext(connection) as queries:
            assert deliver.sweep() == 0
        return len(queries)

    first = Release.objects.get(submission=pair(world).a.submission_id)
    few = query_count()
    pair(world, after=timedelta(minutes=1))
    for name in ("Third", "Fourth", "Fifth"):
        insert_pair(world, [first, stand(world, name, team=f"Team of {name}")])
    assert query_count() == few
    assert outbox() == [("olga", "mail")] * 4


def test_dismissed_old_and_earlier_pairs_are_not_notified(world: World, olga: User) -> None:
    duplicate = pair(world)
    NearDuplicate.objects.update(dismissed_at=timezone.now(), dismissed_by=olga, reason="one published model")
    assert deliver.sweep() == 0
    NearDuplicate.objects.update(dismissed_at=None, dismissed_by=None, reason="")
    NearDuplicate.objects.update(detected_at=timezone.now() - deliver.WINDOW)
    assert deliver.sweep() == 0
    NearDuplicate.objects.update(detected_at=duplicate.detected_at)
    assert deliver.sweep() == 1


def test_former_organisers_get_no_pending_notices(world: World, olga: User) -> None:
    pair(world)
    deliver.sweep()
    world.benchmark.organisers.remove(olga)
    deliver.deliver(notice_id=Notice.objects.get().pk)
    assert mail.outbox == [] and not Notice.objects.exists()
