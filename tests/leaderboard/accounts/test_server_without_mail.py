"""A server without mail never claims to have sent any, and mails of one that sends them name the site."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.test import Client

from leaderboard.accounts.web.forms import RULES_HELP
from leaderboard.models import User
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery staple"
SENT = re.compile(r"\bsent\b|on its way|check your email|check the spam|verification link|send the link", re.IGNORECASE)
NEW = {"username": "eve", "email": "eve@holdout.example", "password1": PASSWORD, "password2": PASSWORD}


def text_of(response: Any) -> str:
    return response.content.decode()


def test_no_page_claims_that_mail_was_sent(settings: Any, mailoutbox: list[Any]) -> None:
    settings.SENDS_MAIL, settings.CONTACT = False, "ops@holdout.example"
    client = Client()
    pages = [client.get("/accounts/signup/"), client.post("/accounts/signup/", NEW, follow=True)]
    assert User.objects.filter(username="eve").exists() and mailoutbox == []
    pages += [
        client.get("/accounts/email/"),
        client.post("/accounts/email/", {"action_add": "", "email": "eve2@holdout.example"}, follow=True),
        client.get("/me/notifications/"),
    ]
    reset = Client().get("/accounts/password/reset/")
    pages += [reset, Client().get("/accounts/password/reset/done/")]
    for page in pages:
        found = SENT.search(text_of(page).replace("Nothing has been sent yet", ""))
        assert page.status_code == 200 and not found, (page.request["PATH_INFO"], found)
    assert "This site sends no email." in text_of(reset) and "mailto:ops@holdout.example" in text_of(reset)
    assert EmailAddress.objects.filter(user__username="eve").count() == 2


def test_with_mail_the_pages_say_so(settings: Any, mailoutbox: list[Any]) -> None:
    settings.SENDS_MAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"
    assert "Send the link" in text_of(Client().get("/accounts/password/reset/"))
    assert "Check your email" in text_of(Client().post("/accounts/signup/", NEW, follow=True))
    assert len(mailoutbox) == 1


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("password/reset", {"email": "ada@holdout.example"}),
        ("password/reset", {"email": "nobody@holdout.example"}),
        ("signup", NEW),
        ("signup", {**NEW, "email": "ada@holdout.example"}),
    ],
    ids=["reset", "reset-unknown", "confirm", "sign-up-known"],
)
def test_mails_name_the_site(page: str, fields: dict[str, str], settings: Any, mailoutbox: list[Any]) -> None:
    settings.BASE_URL, settings.ACCOUNT_EMAIL_VERIFICATION = "https://board.example", "mandatory"
    person("ada")
    Client().post(f"/accounts/{page}/", fields)
    (mail,) = mailoutbox
    assert mail.subject.startswith("[Holdout] ") and "Holdout (board.example)" in mail.body
    assert mail.body.rstrip().endswith("Holdout, board.example")
    assert not re.search(r"Hello from|Thank you for using|testserver|127\.0\.0\.1", mail.body)


def test_password_rules_are_listed_once() -> None:
    assert f"At least {MinimumLengthValidator().min_length} characters" in RULES_HELP
    page = text_of(Client().post("/accounts/signup/", {**NEW, "password1": "123", "password2": "123"}))
    assert page.count(RULES_HELP) == 1 and "ends all your sessions" not in page
    assert "This password is too short" in page and "<li>" not in page.split("id_password1", 1)[1].split("</form>")[0]
