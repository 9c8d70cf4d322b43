"""Followed benchmarks, reminders of deadlines, lost ranks, and the list of notices on the site."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.actions.announcements import announce, take_back
from leaderboard.models import Benchmark, Follow, Notice, Phase, Split, System, Team, User
from leaderboard.notifications.actions import deadlines, deliver, follows, kinds, lost_ranks, webhooks
from leaderboard.notifications.actions.lost_ranks import Ranked
from leaderboard.submissions.actions import registrations
from leaderboard.work_queue import enqueue
from tests.support.api_calls import fixed_text
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
PAGE = "/me/notifications/"
NOON = datetime.fromisoformat("2030-05-01T12:00:00+00:00")
LONG_AGO = datetime.fromisoformat("2020-05-01T12:00:00+00:00")
DAY = timedelta(days=1)


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _no_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)


@pytest.fixture
def fan(world: World) -> User:
    """A user in no team who follows the benchmark, with mails on."""
    user = User.objects.create_user("fan", "fan@holdout.example", "correct horse", news_mailed_since=LONG_AGO)
    Follow.objects.create(user=user, benchmark=world.benchmark, created_at=LONG_AGO)
    return user


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def close(world: World, at: datetime | None) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=at)


def remind(at: datetime) -> list[int]:
    """Write the reminders due at a time; returns the lead times in days of all reminders so far."""
    deadlines.write(at - deliver.WINDOW, at)
    notices = Notice.objects.filter(body__event="phase.closing").order_by("created_at")
    return [notice.body["days"] for notice in notices]


# --- deadlines


def test_followers_are_reminded_twice_of_a_deadline(world: World, fan: User) -> None:
    close(world, NOON)
    assert remind(NOON - 7 * DAY - timedelta(seconds=1)) == []
    assert remind(NOON - 7 * DAY) == [7]
    assert remind(NOON - 6 * DAY) == [7], "once"
    assert remind(NOON - DAY) == remind(NOON - timedelta(minutes=1)) == [7, 1]
    assert remind(NOON) == remind(NOON + DAY) == [7, 1]
    assert {(notice.user, notice.state) for notice in Notice.objects.all()} == {(fan, "queued")}


def test_after_a_pause_of_the_server_the_last_reminder_due_is_written(world: World, fan: User) -> None:
    close(world, NOON)
    assert remind(NOON - 3 * DAY) == [7]
    close(world, NOON + DAY)
    assert remind(NOON + timedelta(hours=1)) == [7, 1], "that of seven days is left out: one day is left"


def test_a_moved_deadline_moves_the_reminders(world: World, fan: User) -> None:
    at = timezone.now()
    close(world, at + 5 * DAY)
    assert remind(at) == [7]
    close(world, at + 60 * DAY)
    deliver.deliver(notice_id=Notice.objects.get().pk)
    assert (mail.outbox, Notice.objects.exists()) == ([], False), "the reminder of the earlier deadline is dropped"
    assert remind(at + 52 * DAY) == []
    assert remind(at + 53 * DAY) == [7]


def test_a_reminder_names_the_deadline_and_the_page(world: World, fan: User) -> None:
    closes_at = timezone.now() + timedelta(hours=3)
    close(world, closes_at)
    assert remind(timezone.now()) == [1]
    deliver.deliver(notice_id=Notice.objects.get().pk)
    (message,) = mail.outbox
    assert (message.to, message.subject) == ([fan.email], "Tiny claims, Test closes in less than 1 day")
    assert f"{closes_at:%Y-%m-%d %H:%M} UTC" in message.body and world.phase.get_absolute_url() in message.body


def test_nobody_is_reminded_of_what_is_not_public(world: World, fan: User) -> None:
    close(world, NOON)
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert remind(NOON - DAY) == []


def test_nobody_is_reminded_of_a_draft_split(world: World, fan: User) -> None:
    close(world, NOON)
    Split.objects.update(state=Split.State.DRAFT, published_at=None)
    assert remind(NOON - DAY) == []


def test_a_reminder_is_dropped_if_the_benchmark_is_withdrawn_before_it_is_sent(world: World, fan: User) -> None:
    close(world, timezone.now() + DAY / 2)
    assert remind(timezone.now()) == [1]
    world.benchmark.organisers.add(fan)  # who may still open its pages
    assert deadlines.is_for(Notice.objects.get())
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert not deadlines.is_for(Notice.objects.get())


def test_participants_are_reminded_and_those_who_follow_later_are_not(world: World) -> None:
    close(world, timezone.now() + 3 * DAY)
    world.insert_run(at=timezone.now() - 20 * DAY)
    late = User.objects.create_user("late", "late@holdout.example", "correct horse")
    follows.follow(benchmark=world.benchmark, by=late)
    remind(timezone.now())
    (notice,) = Notice.objects.all()
    assert (notice.user, notice.state) == (world.researcher, "site")


def test_followers_get_announcements(world: World, fan: User) -> None:
    User.objects.update(news_mailed_since=None)
    announcement = announce(benchmark=world.benchmark, title="New data", text="", by=world.curator)
    assert "Tiny claims: New data" in client_of(fan).get(PAGE).content.decode()
    take_back(announcement=announcement, by=world.curator)
    assert "New data" not in client_of(fan).get(PAGE).content.decode()


def test_only_registered_teams_hear_of_a_private_benchmark(world: World, fan: User) -> None:
    world.insert_run(at=LONG_AGO)
    benchmark = registrations.set_access(
        benchmark=world.benchmark, access=Benchmark.Access.INVITED, asks_agreement=False, by=world.curator
    )
    out = Team.objects.create(name="Out")
    out.members.add(fan)
    registrations.invite(benchmark=benchmark, team=out, by=world.curator)
    registrations.decide(benchmark=benchmark, team=out, approve=False, by=world.curator)
    assert world.researcher.teams.filter(registrations__benchmark=benchmark).exists()
    announce(benchmark=benchmark, title="New data", text="", by=world.curator)
    closes_at = timezone.now() + 7 * DAY + timedelta(minutes=1)
    close(world, closes_at)
    assert remind(closes_at - 7 * DAY) == [7]
    assert {notice.user for notice in Notice.objects.all()} == {world.researcher}
    reminder = Notice.objects.get(body__event="phase.closing")
    assert deadlines.is_for(reminder)
    registrations.decide(benchmark=benchmark, team=world.researcher.teams.get(), approve=False, by=world.curator)
    assert not deadlines.is_for(reminder)


# --- lost ranks


def overtaken() -> list[tuple[str, list[dict[str, Any]]]]:
    """Sweep; returns (username, systems) of each notice of lost ranks."""
    deliver.sweep()
    notices = Notice.objects.filter(body__event="rank.lost", webhook=None).order_by("created_at", "user__username")
    return [(notice.user.username, notice.body["systems"]) for notice in notices]


def rival(name: str = "rival") -> User:
    user = User.objects.create_user(name, f"{name}@holdout.example", "correct horse")
    Team.objects.get_or_create(name=f"Team of {name}")[0].members.add(user)
    return user


def test_a_team_is_notified_once_when_it_is_overtaken(world: World) -> None:
    rival()
    stand(world, "Ours", symmetric_scores(0.7))
    assert overtaken() == []
    stand(world, "Theirs", symmetric_scores(0.8), team="Team of rival", anonymous_until=NOON, anonymous_number=7)
    lost = [("ada", [{"system": "Ours", "rank": 2, "rank_before": 1}])]
    assert overtaken() == overtaken() == lost
    notice = Notice.objects.get(body__event="rank.lost")
    text = fixed_text(json.dumps(notice.body)) + "".join(kinds.words(notice))
    assert "Theirs" not in text and "rival" not in text and "0.8" not in text
    assert kinds.words(notice)[0] == "Ours was overtaken on Tiny claims, Test: rank 2 (before: 1)"


def test_losses_of_a_day_come_together(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rival()
    stand(world, "Ours", symmetric_scores(0.5))
    deliver.sweep()
    for number, accuracy in enumerate((0.6, 0.7, 0.8)):
        stand(world, f"Theirs {number}", symmetric_scores(accuracy), team="Team of rival")
        assert len(overtaken()) == 1
    monkeypatch.setattr(lost_ranks, "QUIET", timedelta(0))
    assert overtaken()[1:] == [("ada", [{"system": "Ours", "rank": 4, "rank_before": 2}])]


def test_own_systems_and_ladders_overtake_nobody(world: World) -> None:
    stand(world, "Ours", symmetric_scores(0.7))
    deliver.sweep()
    stand(world, "Ours too", symmetric_scores(0.8))
    assert overtaken() == []
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    stand(world, "Theirs", symmetric_scores(0.9), team="Team of rival")
    assert overtaken() == []


def test_drafts_notify_nobody_of_ranks(world: World) -> None:
    stand(world, "Ours", symmetric_scores(0.7))
    deliver.sweep()
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    stand(world, "Theirs", symmetric_scores(0.8), team="Team of rival")
    assert overtaken() == []


TEAMS = {1: 10, 2: 20, 3: 10, 4: 20}


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        pytest.param({1: (1, 1)}, {2: (1, 2), 1: (2, 1)}, {10: [1]}, id="a new system"),
        pytest.param({1: (1, 1), 2: (2, 2)}, {2: (1, 3), 1: (2, 1)}, {10: [1]}, id="a better result"),
        pytest.param({1: (1, 1), 2: (1, 2)}, {2: (1, 3), 1: (2, 1)}, {10: [1]}, id="out of a tie"),
        pytest.param({1: (1, 1), 2: (2, 2)}, {2: (1, 2), 1: (2, 9)}, {}, id="an own choice"),
        pytest.param({1: (1, 1)}, {3: (1, 3), 1: (2, 1)}, {}, id="an own system"),
        pytest.param({1: (2, 1), 2: (1, 2)}, {2: (1, 5), 3: (2, 6), 1: (3, 1)}, {}, id="the leader again"),
        pytest.param({1: (2, 1)}, {1: (1, 1), 2: (2, 2)}, {}, id="a better rank"),
        pytest.param({}, {1: (1, 1), 2: (2, 2)}, {}, id="the first look"),
    ],
)
def test_lost_ranks(before: dict[int, Any], now: dict[int, Any], lost: dict[int, list[int]]) -> None:
    ranked = [{system: Ranked(*row) for system, row in rows.items()} for rows in (now, before)]
    assert lost_ranks.lost(*ranked, TEAMS) == lost


# --- the list and its settings


def test_the_bell_counts_unread_notices_until_they_are_read(world: World) -> None:
    stand(world, "First")
    stand(world, "Second")
    deliver.sweep()
    client, stranger = client_of(world.researcher), client_of(world.curator)

    def unread() -> str:
        return re.sub("<[^>]*>", "", client.get("/").content.decode())

    assert "Notifications, 2 unread" in unread()
    key = Notice.objects.first().pk
    for wrong in ({"notice": key}, {}):
        stranger.post(f"{PAGE}read/", wrong)
    assert Notice.objects.filter(read_at=None).count() == 2, "those of another user"
    client.post(f"{PAGE}read/", {"notice": key})
    assert "1 unread" in unread()
    client.post(f"{PAGE}read/", {"notice": "nonsense"})
    client.post(f"{PAGE}read/")
    assert "unread" not in unread() and Notice.objects.filter(user=world.researcher, read_at=None).count() == 0
    assert "First: done" in client.get(PAGE).content.decode(), "read notices stay in the list"


def test_the_list_hides_what_its_user_may_no_longer_see(world: World, fan: User) -> None:
    close(world, timezone.now() + timedelta(hours=2))
    remind(timezone.now())
    assert "closes in less than" in client_of(fan).get(PAGE).content.decode()
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    page = client_of(fan).get(PAGE).content.decode()
    assert "closes in less than" not in page and "Tiny claims" not in page


def test_the_button_follows_and_unfollows(world: World) -> None:
    client, page = client_of(world.researcher), world.benchmark.get_absolute_url()
    address = f"/me/follows/{world.benchmark.slug}/"
    assert f'action="{address}"' in client.get(page).content.decode()
    assert client.post(address).url == client.post(address).url == page
    assert Follow.objects.get().user == world.researcher
    assert "Unfollow" in client.get(page).content.decode()
    assert "Tiny claims" in client.get(PAGE).content.decode()
    assert client.post(address, {"follow": "off", "from": "notices"}).url == PAGE
    assert not Follow.objects.exists()
    anonymous = Client().get(page).content.decode()
    assert "csrf" not in anonymous and f"/accounts/login/?next={page}" in anonymous


def test_mails_off_leave_notices_on_the_site(world: World, fan: User) -> None:
    User.objects.update(mailed_since=LONG_AGO)
    close(world, timezone.now() + timedelta(hours=2))
    remind(timezone.now())
    client = client_of(fan)
    client.post(f"{PAGE}mail/", {"about": "results"})
    assert Notice.objects.get().state == "queued", "the other switch"
    client.post(f"{PAGE}mail/", {"about": "news"})
    deliver.deliver(notice_id=Notice.objects.get().pk)
    assert (Notice.objects.get().state, mail.outbox) == ("site", [])


def test_a_server_without_mail_has_no_switches(world: World, settings: Any) -> None:
    client = client_of(world.researcher)
    for sends in (True, False):
        settings.SENDS_MAIL = sends
        page = client.get(PAGE).content.decode()
        assert (f"{PAGE}mail/" in page, "This site sends no email." in page) == (sends, not sends)


def test_webhooks_are_called_with_the_new_events(world: World, fan: User) -> None:
    hook = webhooks.add(url="https://hooks.example/", by=fan)
    type(hook).objects.update(created_at=LONG_AGO)
    close(world, NOON)
    remind(NOON - DAY)
    notice = Notice.objects.get(webhook=hook)
    assert (notice.body["event"], notice.body["closes_at"]) == ("phase.closing", NOON.isoformat())
    assert System.objects.count() == 1
