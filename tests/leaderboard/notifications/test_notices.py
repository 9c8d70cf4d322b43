"""Mails and webhook calls about finished submissions: recipients, contents, frequency and signatures."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import standardwebhooks
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.core.refusal import Refused
from leaderboard.models import Notice, Prediction, Reason, Run, State, Submission, Team, User, Webhook
from leaderboard.notifications.actions import deliver, kinds, webhook_signature, webhooks
from leaderboard.work_queue import enqueue
from tests.docs.blocks import FENCE
from tests.support.api_calls import fixed_text
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
PAGE = "/me/notifications/"


class Receiver(ThreadingHTTPServer):
    """A person's web server, which records the requests it gets and responds with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.came: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    server = Receiver()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _no_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)


def person(client_of: User) -> Client:
    client = Client()
    client.force_login(client_of)
    return client


def sweep_and_deliver() -> list[Notice]:
    """Runs the sweep and the deliveries; returns all notices, the oldest first."""
    deliver.sweep()
    for pk in Notice.objects.values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)
    return list(Notice.objects.order_by("created_at"))


def end(run: Run, state: State = State.DONE, reason: Reason = Reason.NONE) -> None:
    files = {"outcomes": "o", "outcomes_sha256": "0" * 64} if state == State.DONE else {}
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason, finished_at=timezone.now(), **files)


# --- recipients and contents


def test_a_sweep_takes_a_constant_number_of_queries(world: World) -> None:
    """The sweep reads all submissions that ended in the last two days, every few seconds."""
    webhooks.mail(to=world.researcher, is_on=True)

    def query_count() -> int:
        deliver.sweep()
        with CaptureQueriesContext(connection) as queries:
            assert deliver.sweep() == 0
        return len(queries)

    stand(world, "First")
    few = query_count()
    for name in ("Second", "Third", "Fourth"):
        stand(world, name, team=f"Team of {name}")
        member = User.objects.create_user(name.lower(), f"{name}@holdout.example", "correct horse")
        Team.objects.get(name=f"Team of {name}").members.add(member)
        webhooks.mail(to=member, is_on=True)
        stand(world, f"{name} again", team=f"Team of {name}")
    assert query_count() == few
    assert Notice.objects.exclude(state=Notice.State.SITE).count() == 4, (
        "mails: one of the first team, and of each other team the submission that ended after its request"
    )


def test_people_without_mail_or_webhook_are_notified_on_the_site(world: World) -> None:
    stand(world, "First")
    (notice,) = sweep_and_deliver()
    assert (notice.user, notice.state, mail.outbox) == (world.researcher, "site", [])


def test_a_mail_has_the_state_and_no_score(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First", symmetric_scores(0.8125))
    (notice,) = sweep_and_deliver()
    assert (notice.state, notice.answer) == ("done", "sent")
    (message,) = mail.outbox
    assert message.to == ["ada@holdout.example"] and message.subject == "First: done (Tiny claims, Test)"
    assert f"/submissions/{Submission.objects.get().pk}/" in message.body
    assert "0.8125" not in message.body and "0.8125" not in fixed_text(json.dumps(notice.body))
    sweep_and_deliver()
    assert len(mail.outbox) == 1


def test_submissions_that_ended_before_the_request_are_not_notified(world: World, receiver: Receiver) -> None:
    stand(world, "First", at=timezone.now() - timedelta(minutes=1))
    webhooks.mail(to=world.researcher, is_on=True)
    webhooks.add(url=receiver.url, by=world.researcher)
    assert [notice.state for notice in sweep_and_deliver()] == ["site"]
    assert (mail.outbox, receiver.came) == ([], [])


def test_only_team_members_are_notified(world: World) -> None:
    stranger = User.objects.create_user("eve", "eve@holdout.example", "correct horse")
    for user in (world.researcher, world.curator, stranger):
        webhooks.mail(to=user, is_on=True)
    stand(world, "First")
    sweep_and_deliver()
    assert [message.to for message in mail.outbox] == [["ada@holdout.example"]]


@pytest.mark.parametrize(
    ("state", "reason"), [(State.REJECTED, Reason.TIME), (State.FAILED, Reason.STORAGE), (State.DONE, Reason.NONE)]
)
def test_each_outcome_is_worded_as_on_the_page(world: World, state: State, reason: Reason) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    run = world.insert_run()
    assert sweep_and_deliver() == []
    end(run, state, reason)
    (notice,) = sweep_and_deliver()
    assert (notice.body["state"], notice.body["reason"]) == (state.value, reason.value)


def test_withdrawn_and_waiting_submissions_are_not_notified(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    end(world.insert_run(), State.CANCELLED, Reason.WITHDRAWN)
    world.insert_run()
    assert sweep_and_deliver() == []


def test_a_failed_container_is_notified(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    run = world.insert_run()
    Run.objects.filter(pk=run.pk).delete()
    at = timezone.now()
    Prediction.objects.update(state=State.REJECTED, reason=Reason.SYSTEM_TIME, finished_at=at)
    (notice,) = sweep_and_deliver()
    assert notice.body["reason"] == "system_time"


def test_a_rescoring_is_not_notified(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    release = stand(world, "First")
    sweep_and_deliver()
    first = Run.objects.get(pk=release.run_id)
    Run.objects.create(
        prediction=first.prediction, gold_version=first.gold_version, task_version=2, state=State.DONE, attempt=1,
        queued_at=first.queued_at, enqueued_at=first.enqueued_at, finished_at=timezone.now(), outcomes="o",
        outcomes_sha256="0" * 64,
    )  # fmt: skip
    sweep_and_deliver()
    assert len(mail.outbox) == 1


def test_on_a_ladder_a_held_run_is_not_notified(world: World) -> None:
    """It is scored and waits for the runs before it: its page does not show it as finished, and no notice is sent."""
    world.phase.disclosure = "ladder"
    world.phase.save()
    webhooks.mail(to=world.researcher, is_on=True)
    end(world.insert_run())
    assert sweep_and_deliver() == []


def test_a_name_cannot_inject_a_header(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First")
    world.system.team.systems.filter(name="First").update(name="x\r\nBcc: all@holdout.example")
    sweep_and_deliver()
    (message,) = mail.outbox
    assert "\n" not in message.subject and message.recipients() == ["ada@holdout.example"]


# --- webhook calls


def calls_of(webhook: Webhook, receiver: Receiver) -> list[tuple[dict[str, str], bytes]]:
    """Sends a test call; returns all calls that came: headers and body."""
    notice = webhooks.test(webhook=webhook, by=webhook.user)
    deliver.deliver(notice_id=notice.pk)
    return receiver.came


def is_verified(secret: str, headers: dict[str, str], body: bytes) -> bool:
    try:
        standardwebhooks.Webhook(secret).verify(body, headers)
    except standardwebhooks.WebhookVerificationError:
        return False
    return True


def test_the_published_library_verifies_a_call(world: World, receiver: Receiver) -> None:
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    ((headers, body),) = calls_of(webhook, receiver)
    assert headers["webhook-id"] == json.loads(body)["id"]
    secret = webhook_signature.secret(webhook)
    assert is_verified(secret, headers, body)
    assert not is_verified(secret, headers, body + b" ")
    earlier = str(int(headers["webhook-timestamp"]) - 1)
    for name, value in {"webhook-id": str(uuid.uuid4()), "webhook-timestamp": earlier}.items():
        assert not is_verified(secret, {**headers, name: value}, body)


def test_for_a_day_after_a_change_both_secrets_verify_a_call(world: World, receiver: Receiver) -> None:
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    first = webhook_signature.secret(webhook)
    webhook = webhooks.rotate_secret(webhook=webhook, by=world.researcher)
    second = webhook_signature.secret(webhook)
    call = calls_of(webhook, receiver)[-1]
    assert first != second and is_verified(first, *call) and is_verified(second, *call)
    Webhook.objects.update(rotated_at=timezone.now() - webhook_signature.OVERLAP)
    call = calls_of(webhook, receiver)[-1]
    assert not is_verified(first, *call) and is_verified(second, *call)
    third = webhook_signature.secret(webhooks.rotate_secret(webhook=webhook, by=world.researcher))
    call = calls_of(webhook, receiver)[-1]
    assert [is_verified(secret, *call) for secret in (first, second, third)] == [False, True, True]


def test_the_documented_receivers_verify_a_call(world: World, receiver: Receiver) -> None:
    samples: dict[str, Any] = {}
    for match in FENCE.finditer((ROOT / "docs" / "api.md").read_text()):
        if match["info"] == "python webhooks":
            exec(match["text"], samples)
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    ((headers, body),) = calls_of(webhook, receiver)
    secret = webhook_signature.secret(webhook)
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    for sample in (samples["read_call"], samples["check_call"]):
        assert sample(secret, headers, body)["event"] == "test"
        for forged in ((secret, headers, body + b" "), (secret, old, body), ("whsec_MTIz", headers, body)):
            with pytest.raises((ValueError, standardwebhooks.WebhookVerificationError)):
                sample(*forged)


def test_a_call_has_the_notice(world: World, receiver: Receiver) -> None:
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    stand(world, "First")
    (notice,) = [notice for notice in sweep_and_deliver() if notice.webhook]
    assert (notice.state, notice.answer, notice.attempts) == ("done", "status 200", 1)
    ((headers, body),) = receiver.came
    payload = json.loads(body)
    assert (payload["event"], payload["state"], payload["system"]) == ("submission.finished", "done", "First")
    assert headers["webhook-id"] == payload["id"] == str(notice.pk)
    assert is_verified(webhook_signature.secret(webhook), headers, body)
    assert not [name for name in headers if name.lower().startswith("holdout")]


def test_each_webhook_has_its_own_secret_that_is_not_stored(world: World, receiver: Receiver) -> None:
    first_webhook = webhooks.add(url=receiver.url, by=world.researcher)
    two = webhooks.add(url=f"{receiver.url}2", by=world.researcher)
    secrets = {webhook_signature.secret(first_webhook), webhook_signature.secret(two)}
    assert len(secrets) == 2
    stored = json.dumps(list(Webhook.objects.values()), default=str)
    assert not any(secret in stored for secret in secrets)


def test_a_failed_delivery_is_retried_and_given_up_in_the_end(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks.add(url=receiver.url, by=world.researcher)
    stand(world, "First")
    receiver.status = 503
    (notice,) = [notice for notice in sweep_and_deliver() if notice.webhook]
    assert (notice.state, notice.answer, notice.attempts) == ("queued", "status 503", 1)
    deliver.deliver(notice_id=notice.pk)
    assert len(receiver.came) == 1, "not before it is due"
    pauses = []
    for _ in range(20):
        notice.refresh_from_db()
        if notice.state != "queued":
            break
        pauses.append(notice.due_at - timezone.now())
        Notice.objects.update(due_at=timezone.now())
        deliver.deliver(notice_id=notice.pk)
    assert (notice.state, notice.attempts, len(receiver.came)) == ("failed", 6, 6)
    assert pauses == sorted(pauses)
    assert {headers["webhook-id"] for headers, _ in receiver.came} == {str(notice.pk)}


def test_two_workers_send_one_call(world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second worker reads the row before the first claims it. The first call fails, so the row stays queued."""
    receiver.status = 503
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    notice = webhooks.test(webhook=webhook, by=world.researcher)

    class ConcurrentWorker(tuple[timedelta, ...]):
        """Lets another worker run between the first worker's read and its claim."""

        def __getitem__(self, key: Any) -> Any:
            monkeypatch.setattr(deliver, "RETRY_DELAYS", tuple(self))
            deliver.deliver(notice_id=notice.pk)
            return tuple(self)[key]

    monkeypatch.setattr(deliver, "RETRY_DELAYS", ConcurrentWorker(deliver.RETRY_DELAYS))
    deliver.deliver(notice_id=notice.pk)
    assert len(receiver.came) == 1


def test_private_addresses_are_called_only_with_the_operators_permission(
    world: World, receiver: Receiver, settings: Any
) -> None:
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    settings.WEBHOOK_HOSTS = []
    notice = webhooks.test(webhook=webhook, by=world.researcher)
    deliver.deliver(notice_id=notice.pk)
    notice.refresh_from_db()
    assert (receiver.came, notice.answer) == ([], "the host is not on the public internet")
    with pytest.raises(Refused, match="public internet"):
        webhooks.add(url="http://169.254.169.254/latest/meta-data/", by=world.researcher)


def test_webhooks_and_test_calls_are_limited(world: World, receiver: Receiver) -> None:
    webhooks_of_ada = [
        webhooks.add(url=f"{receiver.url}{n}", by=world.researcher) for n in range(webhooks.MAX_WEBHOOKS)
    ]
    with pytest.raises(Refused, match="remove one"):
        webhooks.add(url=f"{receiver.url}x", by=world.researcher)
    for _ in range(webhooks.TESTS_AN_HOUR):
        webhooks.test(webhook=webhooks_of_ada[0], by=world.researcher)
    with pytest.raises(Refused, match="within an hour"):
        webhooks.test(webhook=webhooks_of_ada[0], by=world.researcher)


def test_old_notices_are_deleted(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First")
    sweep_and_deliver()
    Notice.objects.update(finished_at=timezone.now() - timedelta(days=31))
    Run.objects.update(finished_at=timezone.now() - timedelta(days=31))
    assert sweep_and_deliver() == []


# --- pages


def test_the_page_lists_deliveries_of_each_kind(world: World) -> None:
    bodies = [{"event": kind.event, "benchmark": "tiny", "phase": "p<i>"} for kind in kinds.KINDS]
    at = timezone.now()
    hook = Webhook.objects.create(user=world.researcher, url="https://hooks.example/", created_at=at)
    row: dict[str, Any] = {"user": world.researcher, "webhook": hook, "due_at": at, "created_at": at}
    for body in [*bodies, {"event": "test"}]:
        Notice.objects.create(subject=uuid.uuid4(), body=body, **row)
    page = person(world.researcher).get(PAGE).content.decode()
    for kind in kinds.KINDS:
        assert f"<bdi>tiny</bdi>, <bdi>p&lt;i&gt;</bdi>: {kind.label}</th>" in page
    assert '<th scope="row">test</th>' in page


def test_the_page_shows_a_secret_once(world: World, receiver: Receiver) -> None:
    ada = person(world.researcher)
    added = ada.post(PAGE, {"url": receiver.url})
    secret = webhook_signature.secret(Webhook.objects.get())
    assert added.status_code == 200 and secret in added.content.decode()
    assert read(added.content.decode()).faults == []
    again = ada.get(PAGE).content.decode()
    assert secret not in again and receiver.url in again
    assert read(again).faults == []


def test_a_new_secret_is_shown_once(world: World, receiver: Receiver) -> None:
    ada = person(world.researcher)
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    first = webhook_signature.secret(webhook)
    rotated = ada.post(f"/me/webhooks/{webhook.pk}/secret/").content.decode()
    webhook.refresh_from_db()
    second = webhook_signature.secret(webhook)
    assert second in rotated and first not in rotated and read(rotated).faults == []
    again = ada.get(PAGE).content.decode()
    assert second not in again and "The previous secret signs too until" in again and read(again).faults == []


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/", "http://127.0.0.1/", "http://u:p@a.example/", "http://a.example:25/"]
)
def test_uncallable_addresses_are_refused_on_the_page(world: World, url: str) -> None:
    answer = person(world.researcher).post(PAGE, {"url": url})
    assert answer.status_code == 422 and not Webhook.objects.exists()


def test_testing_removing_and_mail_on_the_page(world: World, receiver: Receiver) -> None:
    ada = person(world.researcher)
    ada.post(PAGE, {"url": receiver.url})
    webhook = Webhook.objects.get()
    assert ada.post(f"/me/webhooks/{webhook.pk}/test/").status_code == 302
    sweep_and_deliver()
    assert json.loads(receiver.came[0][1])["event"] == "test"
    assert "status 200" in ada.get(PAGE).content.decode()
    assert ada.post("/me/notifications/mail/", {"mail": "on"}).status_code == 302
    world.researcher.refresh_from_db()
    assert world.researcher.mailed_since is not None
    stranger = person(world.curator)
    for what in ("test", "secret", "remove"):
        assert stranger.post(f"/me/webhooks/{webhook.pk}/{what}/").status_code == 404
    assert ada.post(f"/me/webhooks/{webhook.pk}/remove/").status_code == 302
    assert not Webhook.objects.exists()
