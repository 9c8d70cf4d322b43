# ruff: noqa: RUF001 - this module is about confusable letters
"""Nobody signs up or is renamed to a name that looks like another user's."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.models import User
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery staple"
IMITATIONS = ["аda", "ADA", "ａｄａ", "ada\u3164", "rnodern_lab", "m0dern_lab", "modem_1ab"]


@pytest.fixture(autouse=True)
def _others() -> None:
    person("ada")
    person("modern_lab")


def sign_up(name: str) -> str:
    fields = {"username": name, "email": "eve@holdout.example", "password1": PASSWORD, "password2": PASSWORD}
    return Client().post("/accounts/signup/", fields).content.decode()


@pytest.mark.parametrize("name", [*IMITATIONS, "аdmin", "0rganiser", "anonymous-3"])
def test_an_imitation_cannot_sign_up(name: str) -> None:
    assert 'id="id_username_error"' in sign_up(name)
    assert User.objects.count() == 2


def test_the_message_states_the_problem_and_what_is_expected() -> None:
    expected = "аda looks like a reserved name or the name of another user; expected one that looks different."
    assert expected in sign_up("аda")


@pytest.mark.parametrize("name", ["ada2", "адам", "白川", "d-ada"])
def test_other_names_sign_up(name: str) -> None:
    sign_up(name)
    assert User.objects.filter(username=name).exists()


@pytest.mark.parametrize("name", IMITATIONS)
def test_an_operator_neither_adds_nor_renames_a_user_to_an_imitation(name: str) -> None:
    operator, eve = Client(), person("eve")
    operator.force_login(person("olga", is_staff=True, is_superuser=True))
    new = {"username": name, "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    edit = {"email": eve.email, "is_active": "on", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert operator.post("/admin/leaderboard/user/add/", new).status_code == 200
    assert operator.post(f"/admin/leaderboard/user/{eve.pk}/change/", {**edit, "username": name}).status_code == 200
    assert User.objects.count() == 4 and User.objects.filter(username="eve").exists()
    for own in ("eve", "Eve"):
        assert operator.post(f"/admin/leaderboard/user/{eve.pk}/change/", {**edit, "username": own}).status_code == 302


def test_an_earlier_user_with_an_imitating_name_can_be_edited() -> None:
    operator, eve = Client(), person("аda2")
    person("ada2")
    operator.force_login(person("olga", is_staff=True, is_superuser=True))
    edit = {"email": "e@holdout.example", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    page = operator.post(f"/admin/leaderboard/user/{eve.pk}/change/", {**edit, "username": eve.username})
    assert page.status_code == 302
