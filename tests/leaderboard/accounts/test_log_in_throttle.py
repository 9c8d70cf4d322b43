"""Guessing passwords is slow, and locks out neither the owner nor others at the same address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.core import context
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory

from leaderboard import settings as real
from leaderboard.accounts.web.adapter import AccountAdapter
from leaderboard.models import AuditEntry, User
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse"
HOME, CAFE, ABROAD = "192.0.2.1", "192.0.2.2", "192.0.2.3"


@pytest.fixture(autouse=True)
def _limits(settings: Any) -> Iterator[None]:
    settings.ACCOUNT_RATE_LIMITS = real.ACCOUNT_RATE_LIMITS
    settings.ALLOWED_HOSTS = ["*"]
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def ada() -> User:
    return person("ada")


def log_in(login: str, password: str = PASSWORD, *, at: str, host: str = "board.example") -> bool | None:
    """Return whether the password is right; None if the attempt was refused by a limit."""
    request = RequestFactory().post("/", REMOTE_ADDR=at, headers={"Host": host})
    name = "email" if "@" in login else "username"
    try:
        with context.request_context(request):
            return AccountAdapter().authenticate(request, **{name: login}, password=password) is not None
    except ValidationError as error:
        assert error.code == "too_many_login_attempts"
        return None


def guess(login: str, *, at: str, times: int, **more: str) -> list[bool | None]:
    return [log_in(login, "wrong", at=at, **more) for _ in range(times)]


def guess_from_many_networks(login: str) -> None:
    """Guess from 30 networks, at each less often than the limit of one network, until nothing is tried any more."""
    answers: list[bool | None] = []
    while None not in answers:
        answers += guess(login, at=f"198.51.100.{len(answers) // 5}", times=5)
        assert len(answers) <= 150
    assert 99 <= answers.count(False) <= 100 and answers[-1] is None  # the owner's first log-in counts too


def test_a_guesser_locks_out_nobody_else_at_the_same_address(ada: User) -> None:
    person("bob")
    assert guess("ada", at=CAFE, times=12) == [False] * 10 + [None] * 2
    assert log_in("bob", at=CAFE)
    assert log_in("ada", at=HOME)


@pytest.mark.parametrize("change", [{"login": "ADA"}, {"host": "board.example:1"}])
def test_another_spelling_or_host_gives_no_further_guesses(ada: User, change: dict[str, str]) -> None:
    guess("ada", at=CAFE, times=10)
    assert log_in(**{"login": "ada", "password": "wrong", "at": CAFE, **change}) is None


def test_log_ins_are_not_counted_as_guesses(ada: User) -> None:
    assert all(log_in("ada", at=HOME) for _ in range(15))


def test_guesses_on_many_accounts_from_one_address_end() -> None:
    answers = [log_in(f"user-{number}", "wrong", at=CAFE) for number in range(205)]
    assert answers == [False] * 200 + [None] * 5
    assert log_in("user-0", "wrong", at=HOME) is False


def test_attempts_on_many_accounts_evict_no_counter(ada: User) -> None:
    """Each attempt on another account stores three counters; a cache of few entries would drop those of Ada."""
    guess("ada", at=CAFE, times=10)
    for number in range(1000):
        cache.set(f"counter-{number}", [1.0], 60)
    assert log_in("ada", at=CAFE) is None


def test_guessing_from_many_addresses_ends_and_the_owner_logs_in_where_they_did_before(ada: User) -> None:
    assert log_in("ada", at=HOME)
    guess_from_many_networks("ada")
    assert log_in("ada", at=ABROAD) is None
    assert log_in("ada", at=HOME)
    entry = AuditEntry.objects.get(action="login.new_network")
    assert entry.subject == f"user:{ada.pk}" and HOME not in str(entry.detail)


def test_the_owner_abroad_gets_in_by_resetting_the_password(ada: User) -> None:
    guess_from_many_networks("ada@holdout.example")
    assert log_in("ada@holdout.example", at=ABROAD) is None
    with context.request_context(RequestFactory().post("/", REMOTE_ADDR=ABROAD)):
        AccountAdapter().set_password(ada, "another good horse")
    assert log_in("ada@holdout.example", "another good horse", at=ABROAD)


def test_accounts_that_borrow_the_owners_address_or_name_give_no_further_guesses(ada: User) -> None:
    """Eve logs in from her network with accounts that have Ada's address as their name or as an unverified address."""
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True)
    eves = [User.objects.create_user(ada.email, "eve@holdout.example", PASSWORD), person("eve2")]
    EmailAddress.objects.create(user=eves[1], email=ada.email, verified=False)
    assert all(log_in(eve.email, at=CAFE) for eve in eves)
    guess_from_many_networks(ada.email)
    assert log_in(ada.email, "wrong", at=CAFE) is None


def test_unknown_accounts_are_limited_like_known_ones(ada: User) -> None:
    known, unknown = ([*guess(name, at=CAFE, times=12)] for name in ("ada", "nobody"))
    assert known == unknown


def page_log_in(login: str) -> int:
    return Client().post("/accounts/login/", {"login": login, "password": PASSWORD}).status_code


def token(login: str) -> int:
    fields = {"username": login, "password": PASSWORD}
    return Client().post("/api/v1/auth/tokens/", fields, content_type="application/json").status_code


@pytest.mark.parametrize(("enter", "success"), [(page_log_in, 302), (token, 201)])
def test_a_class_behind_one_address_logs_in_within_a_minute(enter: Callable[[str], int], success: int) -> None:
    for number in range(4):
        person(f"student-{number}")
    assert {enter(f"student-{number % 4}") for number in range(40)} == {success}


def test_the_page_states_the_limit(ada: User) -> None:
    wrong = {"login": "ada", "password": "wrong"}
    page = [Client().post("/accounts/login/", wrong) for _ in range(11)][-1].content.decode()
    assert "Too many failed attempts for this account or from your address." in page
