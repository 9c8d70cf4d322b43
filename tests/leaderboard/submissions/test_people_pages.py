"""Pages for researchers: sign up, submit, follow, download, and what the pages refuse."""

from __future__ import annotations

import gc
import re
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code
from leaderboard.core.web.refusals import HEADLINES
from leaderboard.models import AuditEntry, Phase, QuotaCharge, Run, State, Submission, System, User
from leaderboard.scoring.actions import runs
from tests.support.rows import tiny_world
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
SUBMIT = "/benchmarks/tiny/test/submit/"
PASSWORD = "correct horse battery staple"
TOKEN = {"name": "nightly job", "scope": "submit", "days": "90"}


world, _django_db_helper = shared_states(world=tiny_world.build)


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.researcher)
    return client


@pytest.fixture
def stranger(world: World) -> Client:
    client = Client()
    client.force_login(User.objects.create_user("bob", "bob@holdout.example", PASSWORD))
    return client


def form(content: bytes, name: str = "predictions.jsonl", **fields: Any) -> dict[str, Any]:
    return {"new_system": "Pascaline", "note": "", "file": SimpleUploadedFile(name, content), **fields}


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


# --- submitting


def test_a_valid_file_is_accepted_and_its_page_shows_progress_and_scores(world: World, ada: Client) -> None:
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(), note="seed 3"))
    submission = Submission.objects.get()
    assert response.status_code == 302
    assert response["Location"] == submission.get_absolute_url()
    page = text(ada.get(response["Location"]))
    state = reverse("submission_state", args=[submission.pk])
    assert f'hx-get="{state}?was=queued"' in page
    assert "Next in the queue" in page
    assert "seed 3" in page
    runs.WORK.run(Run.objects.get().pk)
    over = text(ada.get(f"{state}?was=queued"))
    assert "The submission is done." in over
    assert "The submission is" not in text(ada.get(f"{state}?was=done"))
    assert "hx-get" not in over
    assert 'data-state="done"' in over
    assert "1.000" in over
    assert "origin" in over
    run = Run.objects.get()
    for digest in (run.provenance["code_sha256"], run.prediction.sha256):
        assert digest in over
    assert run.provenance["gold_sha256"] not in over


def test_the_queue_position_is_shown(world: World, ada: Client) -> None:
    world.insert_run(at=timezone.now() - timedelta(seconds=5))
    ada.post(SUBMIT, form(tiny_world.prediction_lines({**tiny_world.LABELS, "a1": "REFUTES"})))
    submission = Submission.objects.get(system__name="Pascaline")
    assert "1 ahead in the queue" in text(ada.get(reverse("submission_state", args=[submission.pk])))


def test_an_invalid_file_is_refused_with_its_lines_and_costs_no_quota(world: World, ada: Client) -> None:
    lines = tiny_world.prediction_lines().replace(b'"SUPPORTS"', b'"MAYBE"')
    response = ada.post(SUBMIT, form(lines, name="mine.jsonl"))
    assert response.status_code == 422
    page = text(response)
    assert page.count("MAYBE") == 1 and "2 lines:" in page and "Lines 1, 4<" in page
    assert "NOT ENOUGH INFO" in page
    assert "no quota was used" in page
    assert not Submission.objects.exists()
    assert not QuotaCharge.objects.exists()
    assert not System.objects.filter(name="Pascaline").exists()
    assert AuditEntry.objects.filter(action="submission.refused").count() == 1


def test_an_empty_file_is_reported_as_a_problem_of_the_file(world: World, ada: Client) -> None:
    response = ada.post(SUBMIT, form(b""))
    assert response.status_code == 422
    assert "empty" in text(response)


def test_a_file_over_the_limit_is_413_and_stores_nothing(world: World, ada: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 1_000_000
    response = ada.post(SUBMIT, form(b"x" * 1_100_000))
    assert response.status_code == 413
    assert "too large" in text(response)
    assert "1 MB" in text(response)
    assert not Submission.objects.exists()
    gc.collect()  # files of earlier tests may wait for it
    assert list(settings.FILE_UPLOAD_TEMP_DIR.iterdir()) == []


def test_over_quota_is_429_with_the_end_of_the_day(world: World, ada: Client) -> None:
    Phase.objects.update(quota_per_day=1)
    assert ada.post(SUBMIT, form(tiny_world.prediction_lines())).status_code == 302
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines()))
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 86_401
    assert "1 of 1 submissions today" in text(response)
    page = text(ada.get(SUBMIT))
    assert "<strong>0</strong> of 1" in page
    assert 'type="file"' not in page


def test_a_closed_phase_is_409_with_its_date(world: World, ada: Client) -> None:
    Phase.objects.update(closes_at=timezone.now() - timedelta(days=1))
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines()))
    assert response.status_code == 409
    assert f"closed at {Phase.objects.get().closes_at:%Y-%m-%d}" in text(response)


@pytest.mark.parametrize(
    ("opens", "closes", "message"),
    [(1, 2, ["It opens on", "It closes on"]), (-2, -1, ["It closed on"]), (None, -1, ["It closed on"])],
)
def test_the_page_of_a_phase_that_is_not_open_has_its_dates_in_the_right_tense(
    world: World, ada: Client, opens: int | None, closes: int, message: list[str]
) -> None:
    at = timezone.now()
    Phase.objects.update(opens_at=opens and at + timedelta(days=opens), closes_at=at + timedelta(days=closes))
    page = text(ada.get(SUBMIT))
    assert [words for words in ("It opens on", "It closes on", "It closed on") if words in page] == message


def test_an_unavailable_sandbox_is_503(world: World, ada: Client, settings: Any) -> None:
    settings.SANDBOX_SOCKET = str(settings.DATA / "nobody.sock")
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines()))
    assert response.status_code == 503
    assert HEADLINES[Code.SANDBOX_UNAVAILABLE] in text(response) and response["Retry-After"]
    assert not Submission.objects.exists()


def test_another_teams_system_cannot_be_chosen(world: World, stranger: Client) -> None:
    stranger.post(SUBMIT, form(tiny_world.prediction_lines()))
    response = stranger.post(SUBMIT, form(tiny_world.prediction_lines(), new_system="", system=world.system.pk))
    assert response.status_code == 422
    assert not world.system.submissions.exists()


def test_a_system_is_either_chosen_or_named(world: World, ada: Client) -> None:
    response_to_both = ada.post(SUBMIT, form(tiny_world.prediction_lines(), system=world.system.pk))
    response_to_neither = ada.post(SUBMIT, form(tiny_world.prediction_lines(), new_system=""))
    for response, said in ((response_to_both, "Both a system and"), (response_to_neither, "No system is given;")):
        assert response.status_code == 422 and said in response.content.decode()
    chosen = ada.post(SUBMIT, form(tiny_world.prediction_lines(), system=world.system.pk, new_system=""))
    assert chosen.status_code == 302
    assert Submission.objects.get().system == world.system


def test_with_two_teams_the_named_one_gets_the_system(world: World, ada: Client) -> None:
    second = teams.create(name="Second Engines", by=world.researcher)
    ada.post(SUBMIT, form(tiny_world.prediction_lines(), team=second.pk))
    assert Submission.objects.get().system.team == second


def test_a_truncated_upload_is_refused(world: World, ada: Client) -> None:
    lines = tiny_world.prediction_lines()
    boundary = "b0undary"
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"new_system": "Pascaline", "note": ""}.items()
    )
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="p.jsonl"\r\n\r\n'
    body = head.encode() + part.encode() + lines
    response = ada.generic(
        "POST",
        SUBMIT,
        body,
        content_type=f"multipart/form-data; boundary={boundary}",
        **{"CONTENT_LENGTH": str(len(body) + 500), "wsgi.input": BytesIO(body)},
    )
    assert response.status_code == 400
    assert not Submission.objects.exists()


def test_every_refusal_code_has_a_headline() -> None:
    assert set(HEADLINES) == set(Code)


# --- ownership


def test_organisers_see_submissions_to_their_benchmark(world: World, stranger: Client) -> None:
    run = world.insert_run()
    address = run.prediction.submission.get_absolute_url()
    assert stranger.get(address).status_code == 404
    world.benchmark.organisers.add(User.objects.get(username="bob"))
    assert stranger.get(address).status_code == 200


def test_the_own_file_is_downloaded_unchanged_as_an_attachment(world: World, ada: Client) -> None:
    run = world.insert_run()
    response = ada.get(reverse("download_prediction", args=[run.prediction.submission_id]))
    assert b"".join(response.streaming_content) == tiny_world.prediction_lines()
    assert response["Content-Disposition"] == 'attachment; filename="predictions.jsonl"'
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(tiny_world.prediction_lines()))


def test_my_submissions_lists_those_of_my_teams(world: World, ada: Client, stranger: Client) -> None:
    world.insert_run()
    assert "Bernoulli" in text(ada.get("/me/submissions/"))
    assert "Bernoulli" not in text(stranger.get("/me/submissions/"))


def test_my_submissions_takes_a_constant_number_of_queries(
    world: World, ada: Client, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    world.insert_run()
    ada.get("/me/submissions/")
    with CaptureQueriesContext(connection) as queries_for_one:
        ada.get("/me/submissions/")
    for _ in range(5):
        world.insert_run()
    with django_assert_num_queries(len(queries_for_one)):
        ada.get("/me/submissions/")


# --- outcomes of submissions


def test_a_server_error_is_shown_as_such_and_as_refunded(world: World, ada: Client) -> None:
    at = timezone.now()
    run = world.insert_run(state=State.FAILED, finished_at=at, reason="storage")
    QuotaCharge.objects.update(refunded_at=at)
    page = text(ada.get(run.prediction.submission.get_absolute_url()))
    assert "The server failed" in page
    assert "refunded" in page


def test_a_rejected_run_shows_its_problems(world: World, ada: Client) -> None:
    problem = {
        "file": "p.jsonl",
        "line": 3,
        "what": "unknown id",
        "found": '"zz"',
        "expected": "one of the inputs",
        "count": 1,
    }
    run = world.insert_run(
        state=State.REJECTED, finished_at=timezone.now(), reason="bad_predictions", problems=[problem]
    )
    page = text(ada.get(run.prediction.submission.get_absolute_url()))
    assert "p.jsonl</bdi>:3" in page
    assert "unknown id" in page


def test_names_are_escaped(world: World, ada: Client) -> None:
    System.objects.update(name="<script>alert(1)</script>")
    run = world.insert_run()
    for address in (run.prediction.submission.get_absolute_url(), "/me/submissions/", SUBMIT):
        page = text(ada.get(address))
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page


# --- accounts


def sign_up(client: Client, **changes: str) -> Any:
    fields = {"username": "grace", "email": "grace@holdout.example", "password1": PASSWORD, "password2": PASSWORD}
    return client.post("/accounts/signup/", {**fields, **changes})


def test_sign_up_logs_in_and_redirects_back(client: Client) -> None:
    response = sign_up(client, next="/me/tokens/")
    assert response["Location"] == "/me/tokens/"
    assert User.objects.get().username == "grace"
    assert client.get("/me/tokens/").status_code == 200


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example"]
)
@pytest.mark.parametrize("path", ["login", "signup", "logout"])
def test_next_never_redirects_to_another_site(client: Client, path: str, elsewhere: str) -> None:
    user = User.objects.create_user("ada", "ada@holdout.example", PASSWORD)
    if path == "logout":
        client.force_login(user)
    login = {"login": "ada", "password": PASSWORD}
    account = {"username": "eve", "email": "eve@holdout.example", "password1": PASSWORD, "password2": PASSWORD}
    fields = {"login": login, "signup": account, "logout": {}}[path]
    response = client.post(f"/accounts/{path}/", {**fields, "next": elsewhere})
    assert response.status_code == 302
    assert response["Location"] == "/"


@pytest.mark.parametrize("password", ["password", "12345678", "short", "grace@holdout"])
def test_weak_passwords_are_refused(client: Client, password: str) -> None:
    assert sign_up(client, password1=password, password2=password).status_code == 200
    assert not User.objects.exists()


def test_the_session_rotates_at_log_in_and_ends_at_log_out(client: Client) -> None:
    User.objects.create_user("ada", "ada@holdout.example", PASSWORD)
    session = client.session
    session["visited"] = True
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = before
    client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    during = client.session.session_key
    assert during != before
    assert not Session.objects.filter(pk=before).exists()
    client.post("/accounts/logout/")
    assert not Session.objects.filter(pk=during).exists()


def test_a_password_change_ends_every_session(client: Client) -> None:
    user = User.objects.create_user("ada", "ada@holdout.example", PASSWORD)
    other = Client()
    client.force_login(user)
    other.force_login(user)
    fields = {"oldpassword": PASSWORD, "password1": PASSWORD + "!", "password2": PASSWORD + "!"}
    client.post("/accounts/password/change/", fields)
    for browser in (client, other):
        assert browser.get("/me/tokens/").status_code == 302


def test_a_forgotten_password_is_reset_by_mail(client: Client, mailoutbox: list[Any], settings: Any) -> None:
    User.objects.create_user("ada", "ada@holdout.example", PASSWORD)
    client.post("/accounts/password/reset/", {"email": "ada@holdout.example"})
    link = re.search(rf"{settings.BASE_URL}(/accounts/password/reset/key/\S+)", mailoutbox[0].body)
    assert link is not None
    page = client.get(link[1], follow=True)
    set_at = page.redirect_chain[-1][0]
    client.post(set_at, {"password1": "another good horse", "password2": "another good horse"})
    assert User.objects.get().check_password("another good horse")
    assert "does not work" in text(Client().get(link[1], follow=True))


def test_a_reset_does_not_reveal_who_has_an_account(client: Client, mailoutbox: list[Any]) -> None:
    User.objects.create_user("ada", "ada@holdout.example", PASSWORD)
    known, unknown = (
        client.post("/accounts/password/reset/", {"email": email}, follow=True)
        for email in ("ada@holdout.example", "nobody@holdout.example")
    )
    assert known.redirect_chain == unknown.redirect_chain
    assert text(known) == text(unknown)


# --- tokens and teams


def test_a_token_is_shown_once_works_and_is_revoked(world: World, ada: Client) -> None:
    page = ada.post("/me/tokens/", TOKEN)
    secret = re.search(r'<code id="token">(\w+)</code>', page.content.decode())
    assert secret is not None
    assert "no-store" in page["Cache-Control"]
    headers = {"authorization": f"Token {secret[1]}"}
    assert Client().get("/api/v1/submissions/", headers=headers).status_code == 200
    assert secret[1] not in ada.get("/me/tokens/").content.decode()
    ada.post(reverse("revoke_token", args=[AuthToken.objects.get().token_key]))
    assert Client().get("/api/v1/submissions/", headers=headers).status_code == 401


def test_a_team_is_created_once(world: World, ada: Client) -> None:
    assert ada.post("/me/teams/", {"name": "Difference Engines"}).status_code == 302
    second_response = ada.post("/me/teams/", {"name": "difference engines"})
    assert second_response.status_code == 409
    assert "already" in text(second_response)


# --- unsafe verbs


def test_pages_cannot_be_framed_and_run_no_foreign_script(world: World, ada: Client) -> None:
    response = ada.get(SUBMIT)
    assert response["X-Frame-Options"] == "DENY"
    policy = response["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
