"""Accounts of other providers, with a real OpenID Connect provider: sign-up, log-in, linking; nobody enters others."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from oidc_provider_mock import User as Claims

from leaderboard.core import login_providers
from leaderboard.models import User
from tests.leaderboard.accounts import oidc_provider
from tests.leaderboard.accounts.test_delete_account import stored_with
from tests.support.api_calls import person
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
UNI = "university"
SIGN_UP = "/accounts/3rdparty/signup/"
LINKED = "/accounts/3rdparty/"
ORCID_ID = "0000-0002-1825-0097"


def account(sub: str, email: str, verified: Any) -> Claims:
    return Claims(
        sub=sub, claims={"email": email, "email_verified": verified, "name": "Zyx Omma", "picture": "https://x"}
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with oidc_provider.running(
        account("zyx", "zyx@uni.example", True),
        account("unverified", "ada@holdout.example", False),
        account("text", "text@uni.example", "false"),
        account("verified", "ada@holdout.example", True),
        account(ORCID_ID, "hidden@uni.example", True),
    ) as address:
        yield address


@pytest.fixture(autouse=True)
def providers(settings: Any, address: str) -> None:
    oidc_provider.configure(settings, UNI, "orcid", address=address)


def come(sub: str, client: Client | None = None, **options: Any) -> tuple[Client, Any]:
    client = client or Client()
    return client, oidc_provider.log_in(client, sub, provider=options.pop("provider", UNI), **options)


def signed_up(sub: str = "zyx", username: str = "zyxomma", email: str = "") -> Client:
    client, response = come(sub)
    assert response["Location"] == SIGN_UP
    page = client.get(SIGN_UP).content.decode()
    assert "terms of use" in page and "/docs/privacy/" in page
    client.post(SIGN_UP, {"username": username, "email": email or f"{sub}@uni.example"})
    return client


def is_logged_in(client: Client) -> bool:
    return client.get("/me/settings/").status_code == 200


def session_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_sign_up_and_log_in(settings: Any) -> None:
    for name in ("/accounts/login/", "/accounts/signup/"):
        page = Client().get(name).content.decode()
        assert "with UNIVERSITY" in page and "with ORCID" in page
    assert is_logged_in(signed_up())
    user = User.objects.get(username="zyxomma")
    assert not user.has_usable_password() and not (user.first_name or user.last_name)
    linked = SocialAccount.objects.get(user=user)
    assert (linked.provider, linked.uid, linked.extra_data) == (UNI, "zyx", {"label": "zyx@uni.example"})
    assert not SocialToken.objects.exists() and stored_with("https://x") == set()
    again, response = come("zyx")
    assert response["Location"] == "/" and is_logged_in(again)
    assert SocialAccount.objects.get().extra_data == {"label": "zyx@uni.example"}


def test_sign_up_obeys_the_rules_of_names() -> None:
    person("ada")
    client, _ = come("zyx")
    for name in ("ad\u0430", "admin", "deleted-account-3"):
        response = client.post(SIGN_UP, {"username": name, "email": "zyx@uni.example"})
        assert response.status_code == 200 and User.objects.count() == 1


@pytest.mark.parametrize("email", ["none", "mandatory"])
@pytest.mark.parametrize("sub", ["unverified", "verified"])
def test_an_address_of_another_account_gives_no_access(sub: str, email: str, settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = email
    ada = person("ada")
    EmailAddress.objects.create(user=ada, email=ada.email, primary=True, verified=True)
    client, response = come(sub)
    assert response["Location"] == SIGN_UP
    client.post(SIGN_UP, {"username": "eve", "email": ada.email})
    assert not is_logged_in(client) and not SocialAccount.objects.exists()
    assert list(User.objects.all()) == [ada]


@pytest.mark.parametrize(("sub", "verified"), [("zyx", True), ("unverified", False), ("text", False)])
def test_only_the_provider_verifies_addresses(sub: str, verified: bool, settings: Any, mailoutbox: list[Any]) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    email = "ada@holdout.example" if sub == "unverified" else f"{sub}@uni.example"
    client = signed_up(sub, email=email)
    assert EmailAddress.objects.get().verified is verified
    assert is_logged_in(client) is verified and len(mailoutbox) == (not verified)


def test_an_address_of_ones_own_choice_is_not_verified(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert not is_logged_in(signed_up(email="victim@holdout.example"))
    assert not EmailAddress.objects.get().verified


def test_a_second_factor_is_asked_for_after_the_provider() -> None:
    signed_up()
    Authenticator.objects.create(
        user=User.objects.get(username="zyxomma"), type=Authenticator.Type.TOTP, data={"secret": "x"}
    )
    client, response = come("zyx")
    assert response["Location"].startswith("/accounts/2fa/authenticate/") and not is_logged_in(client)


def test_linking_and_unlinking() -> None:
    ada = person("ada")
    client = session_of(ada)
    come("zyx", client, process="connect")
    linked = SocialAccount.objects.get()
    assert linked.user == ada and "zyx@uni.example" in client.get(LINKED).content.decode()
    come("zyx", other := session_of(person("bob")), process="connect")
    assert "another account" in other.get(LINKED).content.decode() and SocialAccount.objects.get().user == ada
    other.post(LINKED, {"account": linked.pk})
    assert SocialAccount.objects.exists()
    client.post(LINKED, {"account": linked.pk})
    assert not SocialAccount.objects.exists()


def test_the_only_way_to_log_in_cannot_be_unlinked(settings: Any, address: str) -> None:
    client = signed_up()
    linked = SocialAccount.objects.get()
    assert "Set a password first" in client.post(LINKED, {"account": linked.pk}).content.decode()
    come(ORCID_ID, client, provider="orcid", process="connect")
    other = SocialAccount.objects.get(provider="orcid")
    # A provider that is not offered any more logs nobody in, but its account can be unlinked.
    oidc_provider.configure(settings, UNI, address=address)
    assert "Set a password first" in client.post(LINKED, {"account": linked.pk}).content.decode()
    assert "not offered any more" in client.get(LINKED).content.decode()
    client.post(LINKED, {"account": other.pk})
    assert SocialAccount.objects.get() == linked


def test_orcid_gives_its_id_and_no_address() -> None:
    client = Client()
    oidc_provider.log_in(client, ORCID_ID, provider="orcid")
    assert "hidden@uni.example" not in client.get(SIGN_UP).content.decode()
    client.post(SIGN_UP, {"username": "zyxomma", "email": "zyx@uni.example"})
    assert SocialAccount.objects.get().uid == ORCID_ID and is_logged_in(client)


def test_a_denied_log_in_and_a_stolen_return_change_nothing() -> None:
    client, response = come("zyx", deny=True)
    assert "Log-in cancelled" in client.get(response["Location"]).content.decode()
    page = Client().get(f"/accounts/oidc/{UNI}/login/callback/?code=x&state=y").content.decode()
    assert "Log-in failed" in page and not User.objects.exists()


def test_an_account_without_a_password_is_exported_and_deleted() -> None:
    client = signed_up()
    with zipfile.ZipFile(io.BytesIO(client.get("/me/data.zip").getvalue())) as files:
        assert json.loads(files.read("profile.json"))["linked_accounts"][0]["uid"] == "zyx"
    assert "Your username" in client.get("/me/delete/").content.decode()
    assert client.post("/me/delete/", {"username": "zyx"}).status_code == 422
    assert client.post("/me/delete/", {"username": "zyxomma"}).status_code == 302
    assert stored_with("zyx@uni.example") == set() and stored_with("zyxomma") == set()
    assert come("zyx")[1]["Location"] == SIGN_UP


def test_pages_without_buttons_keep_their_policy(address: str) -> None:
    for path, has in (("/accounts/login/", True), ("/accounts/signup/", True), ("/", False), ("/about/", False)):
        policy = Client().get(path)["Content-Security-Policy"]
        actions = next(part for part in policy.split("; ") if part.startswith("form-action"))
        assert ("https://orcid.org" in actions) is has and (address in actions) is has


def test_github_is_asked_for_the_address_only(settings: Any) -> None:
    settings.LOGIN_PROVIDERS = login_providers.configured(orcid="", github="Iv1:secret", google="", oidc="")
    settings.SOCIALACCOUNT_PROVIDERS = login_providers.allauth_settings(settings.LOGIN_PROVIDERS)
    place = Client().post("/accounts/github/login/")["Location"]
    assert place.startswith("https://github.com/login/oauth/authorize?") and "scope=user%3Aemail" in place
    assert "code_challenge" in place and "secret" not in place


OTHER = {"id": "uni", "name": "Uni", "server": "https://login.example/realms/x", "client_id": "a", "secret": "s3cret"}


@pytest.mark.parametrize(
    "given",
    [
        {"orcid": "s3cret"},
        {"github": ":s3cret"},
        {"oidc": "s3cret"},
        {"oidc": '{"secret": "s3cret"}'},
        {"oidc": json.dumps([{**OTHER, "key": "x"}])},
        {"oidc": json.dumps([{**OTHER, "id": "orcid"}])},
        {"oidc": json.dumps([OTHER, OTHER])},
        {"oidc": json.dumps([{**OTHER, "server": "http://login.example"}])},
        {"oidc": json.dumps([{**OTHER, "name": ""}])},
        {"oidc": json.dumps([{**OTHER, "origins": ["login.example"]}])},
    ],
)
def test_a_wrong_value_is_refused_and_not_quoted(given: dict[str, str]) -> None:
    with pytest.raises(ImproperlyConfigured, match="expected") as error:
        login_providers.configured(**{"orcid": "", "github": "", "google": "", "oidc": "", **given})
    assert "s3cret" not in str(error.value)


def test_origins_are_those_of_the_server_and_the_given_ones() -> None:
    entry = {**OTHER, "origins": ["https://idp.example/x"]}
    [provider] = login_providers.configured(orcid="", github="", google="", oidc=json.dumps([entry]))
    assert provider.origins == ("https://login.example", "https://idp.example")
    assert "s3cret" not in repr(provider)


def test_the_pages_are_valid_html() -> None:
    client, _ = come("zyx")
    for page in ("/accounts/login/", "/accounts/signup/", SIGN_UP):
        assert read(client.get(page).content.decode()).faults == [], page
    ada = session_of(person("ada"))
    key = {"name": "phone", "credential": {"clientExtensionResults": {"credProps": {"rk": True}}}}
    row = Authenticator.objects.create(user=User.objects.get(), type=Authenticator.Type.WEBAUTHN, data=key)
    pages = ["", "webauthn/", f"webauthn/keys/{row.pk}/remove/", f"webauthn/keys/{row.pk}/edit/", "totp/activate/"]
    for page in (LINKED, "/device/", *(f"/accounts/2fa/{part}" for part in (*pages, "recovery-codes/generate/"))):
        response = ada.get(page)
        assert response.status_code == 200 and read(response.content.decode()).faults == [], page
    row.delete()
    # The tests' server sends no mail, so nobody can verify an address.
    EmailAddress.objects.create(user=row.user, email=row.user.email, primary=True)
    response = ada.get("/accounts/2fa/webauthn/add/")
    assert response.status_code == 200 and read(response.content.decode()).faults == []
