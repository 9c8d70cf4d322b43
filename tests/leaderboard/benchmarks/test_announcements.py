"""Announcements, the contact, and who is notified of announcements."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.actions import announcements
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Announcement, AuditEntry, Benchmark, Notice, User
from leaderboard.notifications.actions import deliver, webhooks
from leaderboard.templatetags.moments import to_the_second
from tests.support.api_calls import person
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
SCRIPT = "<script>alert('announced')</script>"


world, _django_db_helper = shared_states(world=build)


def announce(world: World, title: str = "Test data corrected", text: str = "Line *one*.\n\nLine two.") -> Announcement:
    return announcements.announce(benchmark=world.benchmark, title=title, text=text, by=world.curator)


def refusal_code(act: Any, **kwargs: Any) -> Code:
    with pytest.raises(Refused) as refused:
        act(**kwargs)
    return refused.value.code


def deliver_all() -> None:
    for pk in Notice.objects.filter(state="queued").values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)


def test_it_is_on_the_page_in_the_api_and_in_the_feed(world: World) -> None:
    announcement = announce(world)
    page = Client().get("/benchmarks/tiny/").content.decode()
    assert (
        announcement.title in page
        and "<p>Line <em>one</em>.</p>\n<p>Line two.</p>" in page
        and f'title="{to_the_second(announcement.created_at)} UTC"' in page
    )
    (shown_entry,) = Client().get("/api/v1/benchmarks/tiny/").json()["announcements"]
    assert (shown_entry["id"], shown_entry["title"], shown_entry["text"]) == (
        str(announcement.pk),
        announcement.title,
        announcement.text,
    )
    feed = ET.fromstring(Client().get("/benchmarks/tiny/feed.atom").content)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert (
        entry.findtext(f"{ATOM}title") == announcement.title
        and entry.findtext(f"{ATOM}id") == f"urn:uuid:{announcement.pk}"
    )
    link = entry.find(f"{ATOM}link")
    assert link is not None and link.attrib["href"].endswith(f"/benchmarks/tiny/#announcement-{announcement.pk}")
    assert f'id="announcement-{announcement.pk}"' in page
    summary = entry.find(f"{ATOM}summary")
    assert summary is not None and summary.get("type", "text") == "text" and summary.text == announcement.text


def test_markup_is_escaped_everywhere(world: World) -> None:
    announce(world, title=SCRIPT, text=SCRIPT)
    for where in ("/benchmarks/tiny/", "/benchmarks/tiny/feed.atom", "/manage/benchmarks/tiny/announcements/"):
        client = Client()
        client.force_login(world.curator)
        text = client.get(where).content.decode()
        assert "<script>alert" not in text and "&lt;script&gt;alert(" in text, where


def test_the_latest_is_first_and_older_ones_are_folded(world: World) -> None:
    for number in range(4):
        announce(world, title=f"Number {number}")
    page = Client().get("/benchmarks/tiny/").content.decode()
    offsets = [page.index(f"Number {number}") for number in (3, 2, 1, 0)]
    assert offsets == sorted(offsets) and offsets[1] < page.index("<summary>2 older</summary>") < offsets[2]


def test_a_withdrawn_announcement_is_gone_with_its_waiting_mails(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    world.insert_run()
    announcement = announce(world)
    assert Notice.objects.filter(subject=announcement.pk).count() == 1
    announcements.take_back(announcement=announcement, by=world.curator)
    assert "Test data corrected" not in Client().get("/benchmarks/tiny/").content.decode()
    assert not Notice.objects.exists() and AuditEntry.objects.filter(action="announcement.taken_back").exists()


def test_only_participants_with_mails_on_are_mailed(world: World) -> None:
    idle, elsewhere = person("idle"), person("elsewhere")
    world.system.team.members.add(idle)
    for user in (world.researcher, elsewhere):
        webhooks.mail(to=user, is_on=True, switch="news_mailed_since")
    world.insert_run()
    world.insert_run()
    announce(world, title="Deadline\r\nBcc: x@holdout.example")
    deliver.sweep()
    deliver_all()
    (message,) = mail.outbox
    assert (
        message.to == [world.researcher.email] and "Line two." in message.body and "/benchmarks/tiny/" in message.body
    )
    assert message.subject == "Tiny claims: Deadline Bcc: x[@]holdout[.]example" and not message.bcc
    assert {(notice.user, notice.state) for notice in Notice.objects.all()} == {
        (world.researcher, "done"),
        (idle, "site"),
    }
    client = Client()
    client.force_login(idle)
    assert "Tiny claims: Deadline Bcc" in client.get("/me/notifications/").content.decode()


def test_drafts_and_sites_without_notices_mail_nobody(world: World, settings: Any) -> None:
    webhooks.mail(to=world.researcher, is_on=True, switch="news_mailed_since")
    world.insert_run()
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    world.benchmark.refresh_from_db()
    announce(world)
    settings.NOTIFICATIONS = False
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    world.benchmark.refresh_from_db()
    announce(world)
    assert not Notice.objects.exists() and Announcement.objects.count() == 2


def test_announcement_mails_are_not_webhook_tests(world: World) -> None:
    hook = webhooks.add(url="https://hooks.example.org/x", by=world.researcher)
    body = {"event": "announcement"}
    at = timezone.now()
    for _ in range(webhooks.TESTS_AN_HOUR):
        key = Announcement(benchmark=world.benchmark).pk
        Notice.objects.create(user=world.researcher, subject=key, body=body, due_at=at, created_at=at)
    assert webhooks.test(webhook=hook, by=world.researcher).body["event"] == "test"


@pytest.mark.parametrize("role", ["researcher", "organiser of another"])
def test_only_organisers_announce(world: World, role: str) -> None:
    by: User = world.researcher if role == "researcher" else person("yuri")
    announcement = announce(world)
    for act, kwargs in (
        (announcements.announce, {"benchmark": world.benchmark, "title": "x", "text": ""}),
        (announcements.take_back, {"announcement": announcement}),
        (announcements.set_contact, {"benchmark": world.benchmark, "contact": ""}),
    ):
        assert refusal_code(act, by=by, **kwargs) is Code.NOT_AN_ORGANISER


@pytest.mark.parametrize("title", ["", "  \n ", "x" * 201])
def test_the_length_of_a_title_is_limited(world: World, title: str) -> None:
    assert refusal_code(announcements.announce, benchmark=world.benchmark, title=title, text="", by=world.curator) is (
        Code.INVALID_VALUE
    )


@pytest.mark.parametrize("sign", ["\u202e", "\u202a", "\u2066", "\u2069", "\0", "\x1b", "\x85"], ids=ascii)
@pytest.mark.parametrize("where", ["title", "text"])
def test_direction_and_control_characters_are_removed(world: World, where: str, sign: str) -> None:
    words = {"title": "Told", "text": "Line", where: f"a{sign}b"}
    if where == "title" and sign.isspace():
        assert announce(world, **words).title == "a b", "a space like any other"
    else:
        assert refusal_code(announcements.announce, benchmark=world.benchmark, by=world.curator, **words) is (
            Code.INVALID_VALUE
        )


def test_newlines_and_tabs_of_a_text_are_kept(world: World) -> None:
    assert announce(world, text="One.\r\n\tTwo, \u05d0.\n").text == "One.\r\n\tTwo, \u05d0."


@pytest.mark.parametrize(
    ("contact", "expected"),
    [
        ("team@holdout.example", 'href="mailto:team@holdout.example"'),
        ("https://example.org/ask?a=1&b=2", 'href="https://example.org/ask?a=1&amp;b=2"'),
    ],
)
def test_the_contact_is_a_link(world: World, contact: str, expected: str) -> None:
    announcements.set_contact(benchmark=world.benchmark, contact=contact, by=world.curator)
    assert expected in Client().get("/benchmarks/tiny/").content.decode()
    assert Client().get("/api/v1/benchmarks/tiny/").json()["contact"] == contact


@pytest.mark.parametrize(
    "contact",
    ["javascript:alert(1)", "http://example.org/", "https://me:secret@example.org/", "ask us", "data:text/html,x"],
)
def test_a_contact_must_be_an_address_or_a_page(world: World, contact: str) -> None:
    assert (
        refusal_code(announcements.set_contact, benchmark=world.benchmark, contact=contact, by=world.curator)
        is Code.INVALID_VALUE
    )
    assert Benchmark.objects.get(pk=world.benchmark.pk).contact == ""


def test_the_pages_announce_and_withdraw(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    where = "/manage/benchmarks/tiny/"
    assert client.post(f"{where}announcements/", {"title": "Told", "text": ""}).status_code == 302
    assert client.post(f"{where}announcements/", {"title": ""}).status_code == 422
    assert client.post(f"{where}contact/", {"contact": "nonsense"}).status_code == 422
    assert client.post(f"{where}contact/", {"contact": "a@holdout.example"}).status_code == 302
    assert "a@holdout.example" in client.get(where).content.decode()
    announcement = Announcement.objects.get()
    assert client.post(f"{where}announcements/{announcement.pk}/take-back/").status_code == 302
    assert not Announcement.objects.exists()
