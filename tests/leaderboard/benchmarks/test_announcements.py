"""Announcements, the contact, and who is told of them."""

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
from tests.support.api_calls import person
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
SCRIPT = "<script>alert('announced')</script>"


@pytest.fixture
def world() -> World:
    return build()


def announce(world: World, title: str = "Test data corrected", text: str = "Line one.\n\nLine two.") -> Announcement:
    return announcements.announce(benchmark=world.benchmark, title=title, text=text, by=world.curator)


def refusal(act: Any, **what: Any) -> Code:
    with pytest.raises(Refused) as refused:
        act(**what)
    return refused.value.code


def deliver_all() -> None:
    for pk in Notice.objects.filter(state="queued").values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)


def test_it_stands_on_the_page_in_the_api_and_in_the_feed(world: World) -> None:
    made = announce(world)
    page = Client().get("/benchmarks/tiny/").content.decode()
    assert made.title in page and "<p>Line two.</p>" in page and f"{made.created_at:%Y-%m-%d %H:%M} UTC" in page
    (told,) = Client().get("/api/v1/benchmarks/tiny/").json()["announcements"]
    assert (told["id"], told["title"], told["text"]) == (str(made.pk), made.title, made.text)
    feed = ET.fromstring(Client().get("/benchmarks/tiny/feed.atom").content)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == made.title and entry.findtext(f"{ATOM}id") == f"urn:uuid:{made.pk}"
    link = entry.find(f"{ATOM}link")
    assert link is not None and link.attrib["href"].endswith(f"/benchmarks/tiny/#announcement-{made.pk}")
    assert f'id="announcement-{made.pk}"' in page
    summary = entry.find(f"{ATOM}summary")
    assert summary is not None and summary.get("type", "text") == "text" and summary.text == made.text


def test_markup_is_text_wherever_it_stands(world: World) -> None:
    announce(world, title=SCRIPT, text=SCRIPT)
    for where in ("/benchmarks/tiny/", "/benchmarks/tiny/feed.atom", "/manage/benchmarks/tiny/announcements/"):
        client = Client()
        client.force_login(world.curator)
        text = client.get(where).content.decode()
        assert "<script>alert" not in text and "&lt;script&gt;alert(" in text, where


def test_the_latest_is_first_and_older_ones_fold(world: World) -> None:
    for number in range(4):
        announce(world, title=f"Number {number}")
    page = Client().get("/benchmarks/tiny/").content.decode()
    places = [page.index(f"Number {number}") for number in (3, 2, 1, 0)]
    assert places == sorted(places) and places[1] < page.index("<summary>2 older</summary>") < places[2]


def test_what_is_taken_back_is_gone_and_its_waiting_mails_too(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    world.insert_run()
    made = announce(world)
    assert Notice.objects.filter(subject=made.pk).count() == 1
    announcements.take_back(announcement=made, by=world.curator)
    assert "Test data corrected" not in Client().get("/benchmarks/tiny/").content.decode()
    assert not Notice.objects.exists() and AuditEntry.objects.filter(action="announcement.taken_back").exists()


def test_participants_with_mails_on_are_mailed_and_nobody_else(world: World) -> None:
    idle, elsewhere = person("idle"), person("elsewhere")
    world.system.team.members.add(idle)
    for user in (world.researcher, elsewhere):
        webhooks.mail(to=user, is_on=True)
    world.insert_run()
    world.insert_run()
    announce(world, title="Deadline\r\nBcc: x@holdout.example")
    deliver.sweep()
    deliver_all()
    (sent,) = mail.outbox
    assert sent.to == [world.researcher.email] and "Line two." in sent.body and "/benchmarks/tiny/" in sent.body
    assert sent.subject == "Tiny claims: Deadline Bcc: x@holdout.example" and not sent.bcc
    client = Client()
    client.force_login(world.researcher)
    assert ": announcement" in client.get("/me/notifications/").content.decode()


def test_drafts_and_sites_without_notices_mail_nobody(world: World, settings: Any) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    world.insert_run()
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    world.benchmark.refresh_from_db()
    announce(world)
    settings.NOTIFICATIONS = False
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    world.benchmark.refresh_from_db()
    announce(world)
    assert not Notice.objects.exists() and Announcement.objects.count() == 2


def test_mails_of_announcements_are_no_tests_of_webhooks(world: World) -> None:
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
    made = announce(world)
    for act, what in (
        (announcements.announce, {"benchmark": world.benchmark, "title": "x", "text": ""}),
        (announcements.take_back, {"announcement": made}),
        (announcements.set_contact, {"benchmark": world.benchmark, "contact": ""}),
    ):
        assert refusal(act, by=by, **what) is Code.NOT_AN_ORGANISER


@pytest.mark.parametrize("title", ["", "  \n ", "x" * 201])
def test_a_title_has_a_length(world: World, title: str) -> None:
    assert refusal(announcements.announce, benchmark=world.benchmark, title=title, text="", by=world.curator) is (
        Code.INVALID_NAME
    )


@pytest.mark.parametrize("sign", ["\u202e", "\u202a", "\u2066", "\u2069", "\0", "\x1b", "\x85"], ids=ascii)
@pytest.mark.parametrize("where", ["title", "text"])
def test_nothing_turns_or_controls_what_stands_after_it(world: World, where: str, sign: str) -> None:
    words = {"title": "Told", "text": "Line", where: f"a{sign}b"}
    if where == "title" and sign.isspace():
        assert announce(world, **words).title == "a b", "a space as any other"
    else:
        assert refusal(announcements.announce, benchmark=world.benchmark, by=world.curator, **words) is (
            Code.INVALID_NAME
        )


def test_lines_and_tabs_of_a_text_stay(world: World) -> None:
    assert announce(world, text="One.\r\n\tTwo, \u05d0.\n").text == "One.\r\n\tTwo, \u05d0."


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ("team@holdout.example", 'href="mailto:team@holdout.example"'),
        ("https://example.org/ask?a=1&b=2", 'href="https://example.org/ask?a=1&amp;b=2"'),
    ],
)
def test_the_contact_is_a_link(world: World, contact: str, shown: str) -> None:
    announcements.set_contact(benchmark=world.benchmark, contact=contact, by=world.curator)
    assert shown in Client().get("/benchmarks/tiny/").content.decode()
    assert Client().get("/api/v1/benchmarks/tiny/").json()["contact"] == contact


@pytest.mark.parametrize(
    "contact",
    ["javascript:alert(1)", "http://example.org/", "https://me:secret@example.org/", "ask us", "data:text/html,x"],
)
def test_what_is_neither_address_nor_page_is_no_contact(world: World, contact: str) -> None:
    assert (
        refusal(announcements.set_contact, benchmark=world.benchmark, contact=contact, by=world.curator)
        is Code.INVALID_NAME
    )
    assert Benchmark.objects.get(pk=world.benchmark.pk).contact == ""


def test_the_pages_do_what_they_say(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    where = "/manage/benchmarks/tiny/"
    assert client.post(f"{where}announcements/", {"title": "Told", "text": ""}).status_code == 302
    assert client.post(f"{where}announcements/", {"title": ""}).status_code == 422
    assert client.post(f"{where}contact/", {"contact": "nonsense"}).status_code == 422
    assert client.post(f"{where}contact/", {"contact": "a@holdout.example"}).status_code == 302
    assert "a@holdout.example" in client.get(where).content.decode()
    made = Announcement.objects.get()
    assert client.post(f"{where}announcements/{made.pk}/take-back/").status_code == 302
    assert not Announcement.objects.exists()
