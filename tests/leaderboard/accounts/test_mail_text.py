"""Mails quote what somebody else wrote, without links, and few go to one stranger."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings as site
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.text.mail_text import quoted, without_links
from leaderboard.models import Notice, Team, User
from leaderboard.notifications.actions import deliver
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
LINKED = re.compile(r"\w[.\u3002\uff0e\uff61][^\W\d]|[^\W\d]:\S|\w@|@\w")
"""What mail clients make a link of: host names, schemes and addresses."""


@pytest.fixture(autouse=True)
def sends_mail(settings: Any) -> None:
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def ada() -> User:
    return person("ada")


def foreign_links(message: Any) -> list[str]:
    return LINKED.findall(re.sub(rf"{site.BASE_URL}/\S*", "", f"{message.subject}\n{message.body}"))


@pytest.mark.parametrize(
    "text",
    [
        *("https://evil.example/x", "evil.example", "www.evil.example", "a@evil.example", "mailto:a", "tel:123"),
        *("evil\u3002example", "javascript:alert(1)", "\u0435vil.\u0435xample", "HTTP://1.2.3.4", "x://y"),
    ],
)
def test_nothing_is_left_of_a_link(text: str) -> None:
    assert LINKED.findall(text) and not LINKED.findall(without_links(text)) and not LINKED.findall(quoted(text))


def test_the_rest_stays_as_it_is() -> None:
    for text in ("Accuracy 0.75, v1.5.", "2026-11-28 05:00 UTC", "Grace: a note. Next", f"{site.BASE_URL}/me/"):
        assert without_links(text) == text
    assert quoted("one\r\ntwo\u202e") == "> one\n> two"
    assert site.BASE_URL not in without_links(f"{site.BASE_URL}.evil.example/")


@pytest.mark.parametrize("name", ["Win at www.evil.example", "https://evil.example", "Write to win@evil.example"])
def test_an_invitation_quotes_the_team(ada: User, name: str) -> None:
    invitations.invite(team=teams.create(name=name, by=ada), address="new@holdout.example", by=ada)
    [message] = mail.outbox
    assert foreign_links(message) == [] and name not in message.body and "Win" not in message.subject
    assert f"\n> {without_links(name)}\n" in message.body


def invite(team: Team, address: str, by: User) -> Code | None:
    try:
        invitations.invite(team=team, address=address, by=by)
    except Refused as refused:
        return refused.code
    return None


def test_few_invitations_go_to_one_address(ada: User) -> None:
    bob = person("bob")
    for number in range(invitations.MOST_TO_ADDRESS):
        by = (ada, bob)[number % 2]
        address = ("new@holdout.example", "New+x@Holdout.example")[number % 2]
        assert invite(teams.create(name=f"Team {number}", by=by), address, by) is None
    assert invite(teams.create(name="Another", by=bob), "new+y@holdout.example", bob) is Code.THROTTLED
    assert len(mail.outbox) == invitations.MOST_TO_ADDRESS
    assert invite(Team.objects.get(name="Another"), "other@holdout.example", bob) is None


def test_deleting_the_team_gives_no_further_invitations(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MOST_A_DAY", 4)
    outcomes = []
    for number in range(6):
        team = teams.create(name=f"Team {number}", by=ada)
        outcomes.append(invite(team, "new@holdout.example" if number < 4 else f"{number}@holdout.example", ada))
        membership.delete(team=team, by=ada)
    assert outcomes == [None, None, None, Code.THROTTLED, None, Code.THROTTLED]


def test_deleted_teams_of_others_count(ada: User) -> None:
    for number in range(invitations.MOST_TO_ADDRESS):
        by = person(f"inviter{number}")
        team = teams.create(name=f"Team {number}", by=by)
        assert invite(team, "new@holdout.example", by) is None
        membership.delete(team=team, by=by)
    assert invite(teams.create(name="Another", by=ada), "new@holdout.example", ada) is Code.THROTTLED


UNSENDABLE = ("\u0131" * 200 + "@b.example", "\u0131@b.example", "a@" + "\u00e9" * 60 + ".example")


@pytest.mark.parametrize("address", UNSENDABLE, ids=["folded", "one letter", "long host"])
def test_an_address_to_which_no_mail_can_be_written_is_refused(ada: User, address: str) -> None:
    fields = {"username": "eve", "email": address, "password1": "four letters", "password2": "four letters"}
    answers = [
        Client().post("/accounts/signup/", fields),
        Client().post("/accounts/password/reset/", {"email": address}),
    ]
    for answer in answers:
        assert answer.status_code == 200 and "Enter a valid email address." in answer.content.decode()
    assert invite(teams.create(name="Engines", by=ada), address, ada) is Code.INVALID_VALUE
    assert not User.objects.filter(username="eve").exists() and mail.outbox == []


def test_a_username_is_no_link_in_a_mail_to_a_stranger() -> None:
    fields = {"username": "www.evil.example", "email": "stranger@holdout.example"}
    Client().post("/accounts/signup/", {**fields, "password1": "four letters", "password2": "four letters"})
    [message] = mail.outbox
    assert "\n> www[.]evil[.]example\n" in message.body and foreign_links(message) == []
    mail.outbox.clear()
    Client().post("/accounts/password/reset/", {"email": fields["email"]})
    [message] = mail.outbox
    assert "evil.example" not in message.body and foreign_links(message) == []


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("announcement", {"title": "See evil.example", "benchmark": "Tiny", "text": "Log in at https://evil.example"}),
        ("registration.requested", {"team": "evil.example", "benchmark": "tiny", "benchmark_title": "Tiny"}),
        (
            "submission.finished",
            {
                **{"system": "x@evil.example", "team": "evil.example", "benchmark": "tiny", "phase": "test"},
                **{"state": "done", "reason_text": "", "benchmark_title": "www.evil.example", "phase_title": "T"},
            },
        ),
    ],
)
def test_notices_have_no_links_of_others(ada: User, event: str, body: dict[str, str], monkeypatch: Any) -> None:
    page = f"{site.BASE_URL}/benchmarks/tiny/"
    notice = Notice(user=ada, body={"event": event, "page": page, **body}, created_at=timezone.now())
    sent, _ = deliver._mail(notice)
    [message] = mail.outbox
    assert sent and foreign_links(message) == [] and page in message.body and "evil[.]example" in message.body
