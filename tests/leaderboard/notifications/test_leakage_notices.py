"""Notices to organisers that the bound of what is known of a phase's hidden labels has passed a level, once each."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.models import Notice, Phase, Split
from leaderboard.notifications.actions import deliver, leakage, webhooks
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(200)


@pytest.fixture
def world() -> World:
    cache.clear()
    world = build()
    world.benchmark.organisers.add(world.curator)
    webhooks.mail(to=world.curator, is_on=True)
    return world


def a_hidden_phase(world: World, **changes: Any) -> Phase:
    """Return a ladder on which one shown answer costs more than half of what is bearable, and less than all."""
    phase = a_phase(world, a_split(world, LABELS))
    Phase.objects.filter(pk=phase.pk).update(**{"exact_scores": False, "least_groups": 1000, **changes})
    return Phase.objects.select_related("split", "benchmark").get(pk=phase.pk)


def sent(world: World, phase: Phase, *n_wrong: int) -> list[bool]:
    """Send a file for each number of errors, score all, sweep; return whether each notice has a useful bound."""
    for number in n_wrong:
        send(world, phase, answers(LABELS, number))
    score_all()
    leakage.write(timezone.now() - deliver.WINDOW, timezone.now())
    notices = Notice.objects.filter(body__event=leakage.EVENT).order_by("created_at")
    return [notice.body["is_useful"] for notice in notices]


def test_organisers_are_notified_of_half_and_of_all_once_each(world: World) -> None:
    phase = a_hidden_phase(world)
    assert sent(world, phase, 100) == [True]
    assert sent(world, phase, 110) == [True]
    assert sent(world, phase, *range(90, 0, -5)) == [True, False]
    assert sent(world, phase, 0) == [True, False]
    for notice in Notice.objects.filter(body__event=leakage.EVENT):
        assert notice.user == world.curator
        deliver.deliver(notice_id=notice.pk)
    subjects = sorted(message.subject for message in mail.outbox)
    assert subjects == [
        "Tiny claims, Many: half of the leakage budget is used",
        "Tiny claims, Many: no useful bound of what is known of the labels",
    ]
    assert all("/phases/many/leakage-budget/" in message.body for message in mail.outbox)


def test_a_phase_that_passes_both_at_once_has_one_notice(world: World) -> None:
    assert sent(world, a_hidden_phase(world, disclosure="full", least_groups=1), 100, 50) == [False]


def test_what_another_phase_shows_of_the_same_groups_passes_a_level_too(world: World) -> None:
    phase = a_hidden_phase(world)
    assert sent(world, phase, 100) == [True]
    another = a_phase(world, phase.split, slug="another", disclosure="full")
    Phase.objects.filter(pk=another.pk).update(exact_scores=True)
    assert sent(world, Phase.objects.get(pk=another.pk), 50) == [True, False]
    assert {notice.body["phase"] for notice in Notice.objects.filter(body__event=leakage.EVENT)} == {phase.slug}
    assert sent(world, phase, 0) == [True, False]


def test_what_was_passed_long_ago_is_not_repeated(world: World) -> None:
    phase = a_hidden_phase(world)
    assert sent(world, phase, 100) == [True]
    Notice.objects.all().delete()
    cache.clear()
    since = timezone.now()
    send(world, phase, answers(LABELS, 101))
    score_all()
    assert leakage.write(since, timezone.now()) == 0


@pytest.mark.parametrize("changes", [{"exact_scores": True}, {"gold_public": True}])
def test_chosen_exact_scores_and_public_gold_have_no_notices(world: World, changes: dict[str, Any]) -> None:
    phase = a_hidden_phase(world, disclosure="full", exact_scores="exact_scores" in changes)
    Split.objects.filter(pk=phase.split_id).update(gold_public="gold_public" in changes)
    assert sent(world, phase, 100, 50) == []


def test_a_sweep_without_releases_since_the_last_one_takes_one_query(world: World) -> None:
    sent(world, a_hidden_phase(world), 100)
    with CaptureQueriesContext(connection) as queries:
        assert leakage.write(timezone.now() - deliver.WINDOW, timezone.now()) == 0
    assert len(queries) == 1
