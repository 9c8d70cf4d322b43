"""Organisers are told outside the site that a near-copy was found: once for two systems, and nobody else."""

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
from tests.support.board_rows import stand
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
SYSTEMS = ("Bernoulli", "Copycat")


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def olga(world: World) -> User:
    """Organises the benchmark, and has mails on."""
    return organiser(world, "olga")


def organiser(world: World, name: str) -> User:
    made = wanting(name)
    world.benchmark.organisers.add(made)
    return made


def wanting(name: str) -> User:
    """A person who has mails on."""
    made = person(name)
    User.objects.filter(pk=made.pk).update(mailed_since=timezone.now() - timedelta(days=30))
    return User.objects.get(pk=made.pk)


def pair(world: World, *, after: timedelta = timedelta(0), swapped: bool = False) -> NearDuplicate:
    """Two submissions of the two systems, found to be near-copies."""
    releases = [stand(world, name, team=f"Team of {name}") for name in SYSTEMS]
    return found(world, releases[::-1] if swapped else releases, after=after)


def found(world: World, releases: list[Release], *, after: timedelta = timedelta(0)) -> NearDuplicate:
    a, b = (Prediction.objects.get(submission=one.submission_id) for one in releases)
    shares: dict[str, Any] = {"equal": 1.0, "shared_errors": 1.0, "n_units": 4, "n_errors": 2}
    at = timezone.now() - timedelta(hours=1) + after
    return NearDuplicate.objects.create(phase=world.phase, a=a, b=b, detected_at=at, **shares)


def told() -> list[tuple[str, str]]:
    """(who, how) of what lies in the outbox."""
    rows = Notice.objects.order_by("user__username", "webhook")
    return [(row.user.username, "call" if row.webhook_id else "mail") for row in rows]


def test_organisers_who_asked_for_it_are_told_and_nobody_else(world: World, olga: User) -> None:
    world.benchmark.organisers.add(person("quiet"))
    wanting("stranger")
    User.objects.filter(pk__in=[world.curator.pk, world.researcher.pk]).update(mailed_since=olga.mailed_since)
    hook = Webhook.objects.create(user=olga, url="https://hooks.example/", created_at=olga.mailed_since)
    made = pair(world)
    Notice.objects.all().delete()
    assert deliver.sweep() >= 2
    rows = Notice.objects.filter(body__event="near_copy.found", body__new_event="near_duplicate.found")
    assert {(row.user, row.webhook) for row in rows} == {(olga, None), (olga, hook)}
    assert {row.submission for row in rows} == {None}
    assert rows[0].body.items() >= {"benchmark": "tiny", "phase": "test"}.items()
    assert rows[0].body["page"].endswith("/benchmarks/tiny/near-duplicates/")
    assert made.phase == world.phase


def test_nothing_of_who_they_are_leaves_the_site(world: World, olga: User) -> None:
    pair(world)
    deliver.sweep()
    (notice,) = Notice.objects.filter(user=olga)
    deliver.deliver(notice_id=notice.pk)
    (sent,) = mail.outbox
    assert sent.to == [olga.email] and sent.subject == "Near-duplicates in tiny, test"
    for text in (sent.subject + sent.body, json.dumps(notice.body)):
        assert not any(name in text for name in SYSTEMS), text
    browser = Client()
    browser.force_login(olga)
    page = browser.get("/me/notifications/").content.decode()
    assert "near-duplicates" in page and not any(name in page for name in SYSTEMS)


def test_once_for_two_systems_whatever_is_found_of_them_later(world: World, olga: User) -> None:
    pair(world)
    assert deliver.sweep() == 1
    pair(world, after=timedelta(minutes=1))
    pair(world, after=timedelta(minutes=2), swapped=True)
    assert deliver.sweep() == 0 and told() == [("olga", "mail")]
    # Long after: the notice itself is forgotten, and the two are not told of again.
    Notice.objects.all().delete()
    NearDuplicate.objects.filter(pk=NearDuplicate.objects.earliest("pk").pk).update(
        detected_at=timezone.now() - timedelta(days=40)
    )
    assert deliver.sweep() == 0 and told() == []


def test_another_pair_and_another_phase_are_told_of(world: World, olga: User) -> None:
    first = pair(world)
    third = stand(world, "Third", team="Team of Third")
    found(world, [Release.objects.get(submission=first.a.submission_id), third])
    assert deliver.sweep() == 2
    world.phase = Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split)
    pair(world)
    assert deliver.sweep() == 1 and told() == [("olga", "mail")] * 3


def test_a_beat_asks_no_more_questions_however_many_were_found(world: World, olga: User) -> None:
    def asked() -> int:
        deliver.sweep()
        with CaptureQueriesContext(connection) as queries:
            assert deliver.sweep() == 0
        return len(queries)

    first = Release.objects.get(submission=pair(world).a.submission_id)
    few = asked()
    pair(world, after=timedelta(minutes=1))
    for name in ("Third", "Fourth", "Fifth"):
        found(world, [first, stand(world, name, team=f"Team of {name}")])
    assert asked() == few
    assert told() == [("olga", "mail")] * 4


def test_what_was_set_aside_or_is_old_or_came_before_one_asked_is_not_told(world: World, olga: User) -> None:
    made = pair(world)
    NearDuplicate.objects.update(dismissed_at=timezone.now(), dismissed_by=olga, reason="one published model")
    assert deliver.sweep() == 0
    NearDuplicate.objects.update(dismissed_at=None, dismissed_by=None, reason="")
    User.objects.filter(pk=olga.pk).update(mailed_since=made.detected_at + timedelta(minutes=1))
    assert deliver.sweep() == 0
    User.objects.filter(pk=olga.pk).update(mailed_since=made.detected_at - timedelta(days=9))
    NearDuplicate.objects.update(detected_at=timezone.now() - deliver.WINDOW)
    assert deliver.sweep() == 0
    NearDuplicate.objects.update(detected_at=made.detected_at)
    assert deliver.sweep() == 1


def test_who_organises_it_no_more_is_not_sent_what_still_waits(world: World, olga: User) -> None:
    pair(world)
    deliver.sweep()
    world.benchmark.organisers.remove(olga)
    deliver.deliver(notice_id=Notice.objects.get().pk)
    assert mail.outbox == [] and not Notice.objects.exists()
