"""Every address x role x verb: an address without an expectation fails, as does any unexpected response."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse
from django.utils import timezone

from leaderboard.models import (
    Announcement,
    ArchiveExport,
    ArchiveImport,
    Bar,
    Download,
    GoldVersion,
    Invitation,
    Membership,
    NearDuplicate,
    Phase,
    Registration,
    ReportedResult,
    Split,
    WorkerReport,
)
from tests.leaderboard.whole_site import access_table, reauthentication_table
from tests.leaderboard.whole_site.access_table import Row
from tests.support import custom_scorers
from tests.support.api_calls import person
from tests.support.crawler import patterns
from tests.support.full_run import FULL
from tests.support.rows import audited_splits, corrected_gold, generator_previews
from tests.support.rows.module_rows import shared
from tests.support.rows.roles import ROLES, Cast, cast
from tests.support.rows.teasers import teaser_of
from tests.support.rows.tiny_world import TASK, World, gold_lines, published

pytestmark = pytest.mark.django_db
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
WRITE = re.compile(r'^(INSERT INTO|UPDATE|DELETE FROM) "(leaderboard|knox)_(?!auditentry)', re.IGNORECASE)
TOKEN = "an-invitation-that-was-handed-on"
THINGS: dict[str, Any] = {}
"""Keys of what the fixture makes last."""
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
REFUSED = {"login", "401", "403", "404", "405"}
ROUTES = {name: route for route, name in patterns() if not route.startswith("admin/")}
PRIVATE = {name for _, name in patterns(get_resolver("leaderboard.web_urls.people"))}
"""Pages of people who are logged in."""
ADMIN_ROUTES = {name: route for route, name in patterns() if route.startswith("admin/") and name}


def build() -> Cast:
    everybody = cast()
    world = everybody.world
    fields = {"name": "train", "kind": "train", "gold_public": True, **published()}
    train = Split.objects.create(dataset=world.split.dataset, **fields)
    Phase.objects.update(options={"cross": "origin,label"})
    names = ("number", "sha256", "bytes", "n_lines", "n_units", "n_groups", "dimensions", "measures", "primary")
    gold = GoldVersion(split=train, expects={}, reason="x", **{name: getattr(world.gold, name) for name in names})
    gold.file.save("gold.jsonl", ContentFile(gold_lines()), save=False)
    gold.save()
    pages = Download(dataset=world.split.dataset, name="pages", title="Pages", suffix=".txt", sha256="0" * 64, bytes=5)
    pages.file.save("pages.txt", ContentFile(b"pages"))
    teaser_of(world.benchmark, sha256="1" * 64)
    custom_scorers.row(world)
    team_objects(everybody)
    at = timezone.now()
    THINGS.update(export=export(world).pk, archive_import=archive_import(world).pk)
    THINGS.update(audit=audited_splits.done(world.gold).pk, correction=corrected_gold.waiting(world).pk)
    THINGS.update(preview=generator_previews.done(world).pk, raw=generator_previews.raw(world, b"unused\n").pk)
    THINGS.update(raw_upload=generator_previews.upload(world, everybody.people["X"]).pk)
    THINGS.update(worker=WorkerReport.objects.create(queue="systems", host="h", ready=False, seen_at=at).pk)
    return everybody


everybody, _django_db_helper = shared(build)


def export(world: World) -> ArchiveExport:
    """A finished archive that the curator has requested."""
    at = timezone.now()
    fields = {"state": "done", "queued_at": at, "enqueued_at": at, "finished_at": at, "requested_by": world.curator}
    archive = ArchiveExport(benchmark=world.benchmark, **fields)
    archive.file.save("archive.zip", ContentFile(b"zip"), save=False)
    archive.save()
    return archive


def archive_import(world: World) -> ArchiveImport:
    """An archive that the curator has uploaded."""
    head = {"slug": "far", "title": "Far", "layout": "x", "closed": None, "readable": {}, "rows": {}}
    fields = {"name": "far.zip", "sha256": "0" * 64, "bytes": 3, "head": head, "at": timezone.now()}
    imported = ArchiveImport(by=world.curator, **fields)
    imported.file.save("archive.zip", ContentFile(b"zip"), save=False)
    imported.save()
    return imported


def team_objects(everybody: Cast) -> None:
    """A second member of A's team, an invitation to it, an announcement of X's benchmark and a near-duplicate in it."""
    world, at = everybody.world, timezone.now()
    team, mate = world.system.team, person("mate")
    Membership.objects.create(team=team, user=mate)
    invited = {"team": team, "address": "x@holdout.example", "invited_by": world.researcher}
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    day = timedelta(days=1)
    invitation = Invitation.objects.create(token_sha256=digest, created_at=at, expires_at=at + day, **invited)
    announcement = Announcement.objects.create(
        benchmark=world.benchmark, title="Told", created_by=world.curator, created_at=at
    )
    pair = (world.insert_run().prediction, world.insert_run().prediction)
    shares = {"equal": 1.0, "shared_errors": 1.0, "n_units": 4, "n_errors": 2, "detected_at": at}
    reported = ReportedResult.objects.create(
        benchmark=world.benchmark, system="BERT", paper="P", split="test", values=[]
    )
    copy = NearDuplicate.objects.create(phase=world.phase, a=pair[0], b=pair[1], **shares)
    asked = Registration.objects.create(
        benchmark=world.benchmark, team=team, requested_by=world.researcher, requested_at=at
    )
    # A bar of a team that no role is in.
    barred = Bar.objects.create(
        benchmark=world.benchmark, team=None, team_name="Left", barred_by=world.curator, barred_at=at
    )
    THINGS.update(bar=barred.pk, registration=asked.pk, organiser=everybody.people["X"].pk)
    THINGS.update(team=team.pk, member=mate.pk, invitation=invitation.pk, announcement=announcement.pk, copy=copy.pk)
    THINGS.update(reported=reported.pk)


def address(row: Row, everybody: Cast) -> str:
    """Returns the row's address with its parameters filled in."""
    parameters: dict[str, Any] = {"slug": "tiny", "phase": "test", "split": "test", "task": TASK, "name": TASK}
    parameters |= {"dimension": "origin", "pair": "origin/label", "plot": "intervals"}
    parameters |= {"pk": everybody.submission.pk, "number": 1, "key": everybody.token}
    parameters |= {"gold": 1, "task_version": 1, "generator": "as-it-is"}
    parameters |= {"token": TOKEN, "member": THINGS["member"], "invitation": THINGS["invitation"]}
    parameters |= {"rest": "nowhere", "uidb36": "1", **row.where}
    if parameters["pk"] == "upload":
        parameters["pk"] = everybody.upload.pk
    for part, key in (
        ("workers/", "worker"),
        ("teams/", "team"),
        ("people/", "member"),
        ("announcements/", "announcement"),
        ("reported/", "reported"),
        ("participants/", "registration"),
        ("participants/bars/", "bar"),
        ("organisers/", "organiser"),
        ("near-duplicates/", "copy"),
        ("audits/", "audit"),
        ("raw-files/", "raw"),
        ("raw-uploads/", "raw_upload"),
        ("previews/", "preview"),
        ("corrections/", "correction"),
        ("manage/archives/", "archive_import"),
        ("exports/", "export"),
    ):
        if part in ROUTES[row.name]:
            parameters["pk"] = THINGS[key]
    if "systems/" in ROUTES[row.name]:
        parameters["pk"] = everybody.world.system.pk
    return reverse(row.name, kwargs={name: parameters[name] for name in PARAMETER.findall(ROUTES[row.name])})


def ask(client: Client, verb: str, url: str, **more: Any) -> tuple[str, Any]:
    """Returns (the response in the table's terms, the response); its changes are rolled back."""
    connection.queries_log.clear()  # it keeps 9,000 statements, after which none would be captured
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        data = {"nothing": "of use"} if verb == "POST" else "" if verb == "PATCH" else None
        headers = {"Tus-Resumable": "1.0.0", **more.pop("headers", {})}
        answer = getattr(client, verb.lower())(url, data, headers=headers, **more)
        transaction.set_rollback(True)
    outcome = str(answer.status_code)
    if outcome == "302" and answer["Location"].startswith(("/accounts/login/", "/admin/login/")):
        outcome = "login"
    if outcome in REFUSED:
        write_queries = [query["sql"] for query in queries if WRITE.match(query["sql"])]
        assert not write_queries, f"{verb} {url} was refused, and wrote {write_queries}"
    return outcome, answer


def test_every_address_has_an_expectation():
    assert set(ROUTES) == {row.name for row in access_table.ROWS}
    records = {
        f"leaderboard_{name}" for name in access_table.READ_ONLY_RECORDS | access_table.EDITED_RECORDS
    } | access_table.OTHERS_RECORDS
    pages = {f"{record}_{page}" for record in records for page in ("changelist", "add", "history", "delete", "change")}
    listed_records = access_table.READ_ONLY_RECORDS | access_table.EDITED_RECORDS
    files = {f"leaderboard_{name}_export" for name in listed_records - access_table.NOT_EXPORTED}
    assert set(ADMIN_ROUTES) == access_table.ADMIN | pages | files


@pytest.mark.parametrize("row", access_table.ROWS, ids=lambda row: "-".join([row.name, *row.where.values()]))
def test_address(everybody, row):
    url = address(row, everybody)
    expected = {"GET": row.get, "POST": row.post, "PATCH": row.patch, "DELETE": row.delete}
    wrong = []
    for role in ROLES:
        client, outcomes, role_index = everybody.client(role), {}, ROLES.index(role)
        # HEAD renders what GET does, and verbs without an expectation are refused whoever asks: one who sees the most
        # tries them, and in the full run one owner of things in benchmarks.
        tries = role == "curator" or (FULL and role == "A")
        verbs = [verb for verb in VERBS if expected.get(verb) or (tries and (role == "curator" or verb != "HEAD"))]
        for verb in verbs:
            outcomes[verb], answer = ask(client, verb, url)
            assert answer.status_code < 500, (verb, url, role)
            if verb == "GET" and role != "anonymous" and (row.name in PRIVATE or url.startswith("/accounts/")):
                cache_control = answer.get("Cache-Control", "")
                assert "no-store" in cache_control and "private" in cache_control, (url, role, cache_control)
            if statuses := expected.get(verb):
                if outcomes[verb] != statuses.split()[role_index]:
                    wrong.append((role, verb, outcomes[verb], "expected", statuses.split()[role_index]))
            elif verb == "HEAD":
                # Where a POST leads to another site, django-allauth answers every verb but GET like it.
                assert outcomes["HEAD"] in (outcomes["GET"], "405") or row.name.endswith("_login"), (role, url)
            elif outcomes[verb] not in REFUSED and not _third_party(row, outcomes[verb], outcomes):
                wrong.append((role, verb, outcomes[verb], "expected a refusal"))
    assert not wrong, url


def _third_party(row: Row, outcome: str, others: dict[str, str]) -> bool:
    """The accounts' views treat PUT like POST; that permits nothing more than POST."""
    return (
        row.name.startswith(("account_", "mfa_", "socialaccount_", "github_", "openid_connect_"))
        and outcome in others.values()
    )


def test_the_admin_is_for_staff_only(everybody):
    for role in ("anonymous", "curator", *(["staff"] if FULL else [])):
        client = everybody.client(role)
        for url, verb in product(admin_addresses(), ("GET", "POST", "DELETE")):
            outcome, answer = ask(client, verb, url)
            assert answer.status_code < 500, (role, verb, url)
            if role != "staff" and "/login/" not in url and "/logout/" not in url:
                assert outcome in ("login", "405"), (role, verb, url, outcome)


def admin_addresses() -> Iterator[str]:
    for name, route in ADMIN_ROUTES.items():
        # The addresses of earlier states are regular expressions.
        plain = route.replace("([^/]+)", "1").replace("/^", "/").removesuffix("$")
        url = "admin/leaderboard/" if name == "app_list" else PARAMETER.sub("1", plain)
        assert "(" not in url, url
        yield f"/{url}"


@pytest.mark.parametrize("record", sorted(access_table.READ_ONLY_RECORDS))
def test_staff_cannot_edit_records_that_the_site_writes(everybody, record):
    client = everybody.client("staff")
    assert client.get(f"/admin/leaderboard/{record}/").status_code == 200
    for page in ("add", "1/delete"):
        for verb in ("get", "post"):
            assert getattr(client, verb)(f"/admin/leaderboard/{record}/{page}/").status_code in (302, 403)
    assert client.post(f"/admin/leaderboard/{record}/add/").status_code == 403


@pytest.mark.parametrize("path", ["/me/teams/{}/", "/me/teams/{}/leave/", "/me/teams/{}/invite/"])
@pytest.mark.parametrize("role", ["B", "X", "curator", "staff"])
def test_another_team_looks_like_a_missing_one(everybody, path, role):
    client = everybody.client(role)
    for verb in ("get", "post"):
        existing, absent = (getattr(client, verb)(path.format(key)) for key in (THINGS["team"], 999_999))
        assert existing.status_code == absent.status_code and existing.status_code in (404, 405)
        assert re.sub(r"/\d+/", "/N/", _without_tokens(existing)) == re.sub(r"/\d+/", "/N/", _without_tokens(absent))


@pytest.mark.parametrize("path", ["/submissions/{}/", "/submissions/{}/state/", "/submissions/{}/predictions/"])
@pytest.mark.parametrize("role", ["B", "Y", "staff"])
def test_another_teams_submission_looks_like_a_missing_one(everybody, path, role):
    client = everybody.client(role)
    existing, absent = (client.get(path.format(key)) for key in (everybody.submission.pk, uuid.uuid4()))
    assert (existing.status_code, absent.status_code) == (404, 404)
    assert _without_tokens(existing) == _without_tokens(absent)
    of_each_request = {"Expires": "its second", "X-Request-ID": "its id"}
    headers = [{**dict(answer.items()), **of_each_request} for answer in (existing, absent)]
    assert headers[0] == headers[1]


@pytest.mark.parametrize("path", ["/submissions/{}/", "/api/v1/submissions/{}/", "/api/v1/submissions/{}/scores/"])
def test_missing_and_forbidden_addresses_take_the_same_queries(everybody, path):
    client = everybody.client("B")
    work = []
    for key in (everybody.submission.pk, uuid.uuid4()):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(path.format(key)).status_code == 404
        work.append([re.sub(r"'[^']*'", "VALUE", query["sql"]) for query in queries])
    assert work[0] == work[1]


@pytest.mark.parametrize("url", ["/benchmarks/tiny/splits/test/gold.jsonl", "/api/v1/benchmarks/draft/"])
def test_range_and_conditional_requests_do_not_bypass_a_404(everybody, url):
    for header in ({"Range": "bytes=0-9"}, {"If-None-Match": f'"{everybody.world.gold.sha256}"'}, {"If-Match": "*"}):
        answer = everybody.client("A").get(url, headers=header)
        assert answer.status_code == 404 and "ETag" not in answer and "Content-Range" not in answer


def test_a_forged_host_is_not_served(everybody):
    for url in ("/", "/api/v1/benchmarks/", "/accounts/password/reset/"):
        answer = everybody.client("anonymous").get(url, headers={"Host": "evil.example"})
        assert answer.status_code == 400 and b"evil.example" not in answer.content


def _without_tokens(answer: Any) -> str:
    """Return the page without its CSRF tokens, its own address and the request's number, which always differ."""
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": ?"\w+"', "", answer.content.decode())
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|#[0-9a-f]{32}", "KEY", text)


@pytest.mark.parametrize(
    "url",
    ["/benchmarks/draft/", "/benchmarks/draft/test/", "/manage/benchmarks/draft/", "/api/v1/benchmarks/draft/"],
)
def test_another_organisers_draft_looks_like_a_missing_one(everybody, url):
    client = everybody.client("X")
    existing, absent = client.get(url), client.get(url.replace("draft", "quite"))
    assert existing.status_code == 404
    assert _without_tokens(existing).replace("draft", "quite") == _without_tokens(absent)


OF_LOGGED_IN = (*access_table.PEOPLE, *access_table.MANAGE, *access_table.ACCOUNTS, *access_table.API)


def test_every_page_of_a_user_says_whether_it_asks_again():
    names = {row.name for row in OF_LOGGED_IN}
    assert names == set(reauthentication_table.ASKS) | reauthentication_table.DOES_NOT_ASK
    assert not set(reauthentication_table.ASKS) & reauthentication_table.DOES_NOT_ASK


@pytest.fixture
def old_sessions(everybody) -> dict[str, Any]:
    """Cookies of sessions that began two hours ago, of users with every way to confirm who they are."""
    people = everybody.people
    for person_ in (people["A"], people["curator"]):
        for kind, data in (("totp", {"secret": "x"}), ("recovery_codes", {"seed": "x", "used_mask": 0})):
            Authenticator.objects.create(user=person_, type=kind, data=data)
    keys = {"name": "key", "credential": {"clientExtensionResults": {}}}
    THINGS["passkey"] = Authenticator.objects.create(user=people["A"], type="webauthn", data=keys).pk
    clients = {role: everybody.client(role) for role in ("A", "curator")}
    for client in clients.values():
        session = client.session
        for record in session["account_authentication_methods"]:
            record["at"] -= 7200
        session.save()
    return {role: client.cookies for role, client in clients.items()}


def test_an_old_session_is_asked_again_for_what_outlives_it(everybody, old_sessions):
    wrong = []
    for row in {row.name: row for row in reversed(OF_LOGGED_IN)}.values():
        key = {"pk": str(THINGS["passkey"])} if row.name.startswith("mfa_") else row.where
        url = address(replace(row, where=key), everybody)
        expected = {"GET": row.get, "POST": row.post, "PATCH": row.patch, "DELETE": row.delete}
        asking = reauthentication_table.ASKS.get(row.name, "").split()
        assert set(asking) <= {verb for verb, outcomes in expected.items() if outcomes}, row.name
        for verb in (verb for verb, outcomes in expected.items() if outcomes):
            # Each request gets the cookies anew: a session has a new key once it was asked.
            client = Client(raise_request_exception=False)
            client.cookies = deepcopy(old_sessions["curator" if row in access_table.MANAGE else "A"])
            _, answer = ask(client, verb, url)
            where = answer.get("Location", "")
            is_asked = where.startswith(("/accounts/reauthenticate/?next", "/accounts/2fa/reauthenticate/?next"))
            is_asked = is_asked or b'"reauthentication_required"' in b"".join(answer)
            if is_asked != (verb in asking):
                wrong.append((row.name, verb, answer.status_code, where))
    assert not wrong


WITHOUT_SESSION = {"api_tokens", "api_device_code", "api_device_token"}
UNSAFE = [row for row in access_table.ROWS if (row.post or row.delete) and row.name not in WITHOUT_SESSION]
"""What changes something for a session; tokens are given for a password or a code, not for a session."""


@pytest.mark.parametrize("row", UNSAFE, ids=lambda row: row.name)
def test_sessions_need_a_csrf_token(everybody, row):
    url = address(row, everybody)
    for role in ("A", "curator"):
        verb = "DELETE" if row.delete else "POST"
        outcome, _ = ask(everybody.client(role, enforce_csrf_checks=True), verb, url)
        assert outcome in ("403", "404"), (role, outcome)


@pytest.mark.parametrize("swap", ["benchmarks/draft/splits/nowhere", "benchmarks/nowhere/splits/test"])
def test_swapped_parts_of_an_address_are_404(everybody, swap):
    for url in (f"/{swap}/inputs.jsonl", f"/api/v1/{swap}/inputs.jsonl", f"/manage/{swap}/gold/"):
        assert everybody.client("curator").get(url).status_code == 404
