"""Mails and webhooks about finished submissions: who is told, what, how often, and that it is ours."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.core.refusal import Refused
from leaderboard.models import Notice, Prediction, Reason, Run, State, Submission, Team, User, Webhook
from leaderboard.notifications.actions import deliver, webhooks
from leaderboard.work_queue import enqueue
from tests.support.board_rows import stand, symmetric_scores
from tests.support.strict_html import read
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
PAGE = "/me/notifications/"


class Receiver(ThreadingHTTPServer):
    """A server of the person's own, which keeps what it is sent and answers with `status`."""

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


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return build()


def person(client_of: User) -> Client:
    client = Client()
    client.force_login(client_of)
    return client


def sweep_and_deliver() -> list[Notice]:
    """What the sweeper and the worker do; every notice that there is, the oldest first."""
    deliver.sweep()
    for pk in Notice.objects.values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)
    return list(Notice.objects.order_by("created_at"))


def end(run: Run, state: State = State.DONE, reason: Reason = Reason.NONE) -> None:
    files = {"outcomes": "o", "outcomes_sha256": "0" * 64} if state == State.DONE else {}
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason, finished_at=timezone.now(), **files)


# --- who is told, and of what


def test_a_beat_asks_no_more_questions_however_much_has_ended(world: World) -> None:
    """The sweeper looks at all ends of two days, every few seconds."""
    webhooks.mail(to=world.researcher, is_on=True)

    def asked() -> int:
        deliver.sweep()
        with CaptureQueriesContext(connection) as queries:
            assert deliver.sweep() == 0
        return len(queries)

    stand(world, "First")
    few = asked()
    for name in ("Second", "Third", "Fourth"):
        stand(world, name, team=f"Team of {name}")
        member = User.objects.create_user(name.lower(), f"{name}@holdout.example", "correct horse")
        Team.objects.get(name=f"Team of {name}").members.add(member)
        webhooks.mail(to=member, is_on=True)
        stand(world, f"{name} again", team=f"Team of {name}")
    assert asked() == few
    assert Notice.objects.count() == 4, "one of the first, and of each other team what ended after it had asked"


def test_nobody_is_told_who_has_not_asked(world: World) -> None:
    stand(world, "First")
    assert sweep_and_deliver() == []


def test_a_mail_tells_the_state_and_no_score(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First", symmetric_scores(0.8125))
    (notice,) = sweep_and_deliver()
    assert (notice.state, notice.answer) == ("done", "sent")
    (sent,) = mail.outbox
    assert sent.to == ["ada@holdout.example"] and sent.subject == "First: done (tiny)"
    assert f"/submissions/{Submission.objects.get().pk}/" in sent.body
    assert "0.8125" not in sent.body and "0.8125" not in json.dumps(notice.body)
    sweep_and_deliver()
    assert len(mail.outbox) == 1


def test_what_ended_before_somebody_asked_is_not_told(world: World, receiver: Receiver) -> None:
    stand(world, "First", at=timezone.now() - timedelta(minutes=1))
    webhooks.mail(to=world.researcher, is_on=True)
    webhooks.add(url=receiver.url, by=world.researcher)
    assert sweep_and_deliver() == []


def test_only_the_teams_members_are_told(world: World) -> None:
    stranger = User.objects.create_user("eve", "eve@holdout.example", "correct horse")
    for user in (world.researcher, world.curator, stranger):
        webhooks.mail(to=user, is_on=True)
    stand(world, "First")
    sweep_and_deliver()
    assert [sent.to for sent in mail.outbox] == [["ada@holdout.example"]]


@pytest.mark.parametrize(
    ("state", "reason"), [(State.REJECTED, Reason.TIME), (State.FAILED, Reason.STORAGE), (State.DONE, Reason.NONE)]
)
def test_each_end_is_told_as_the_page_tells_it(world: World, state: State, reason: Reason) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    run = world.insert_run()
    assert sweep_and_deliver() == []
    end(run, state, reason)
    (notice,) = sweep_and_deliver()
    assert (notice.body["state"], notice.body["reason"]) == (state.value, reason.value)


def test_what_was_withdrawn_or_waits_is_not_told(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    end(world.insert_run(), State.CANCELLED, Reason.WITHDRAWN)
    world.insert_run()
    assert sweep_and_deliver() == []


def test_a_container_that_failed_is_told(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    run = world.insert_run()
    Run.objects.filter(pk=run.pk).delete()
    at = timezone.now()
    Prediction.objects.update(state=State.REJECTED, reason=Reason.SYSTEM_TIME, finished_at=at)
    (notice,) = sweep_and_deliver()
    assert notice.body["reason"] == "system_time"


def test_a_rescoring_is_no_new_end(world: World) -> None:
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


def test_on_a_ladder_nobody_learns_that_a_run_is_held(world: World) -> None:
    """Scored, and waiting for those before it: its page does not call it over, and neither does a notice."""
    world.phase.disclosure = "ladder"
    world.phase.save()
    webhooks.mail(to=world.researcher, is_on=True)
    end(world.insert_run())
    assert sweep_and_deliver() == []


def test_a_name_breaks_no_header(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First")
    world.system.team.systems.filter(name="First").update(name="x\r\nBcc: all@holdout.example")
    sweep_and_deliver()
    (sent,) = mail.outbox
    assert "\n" not in sent.subject and sent.recipients() == ["ada@holdout.example"]


# --- calls


def test_a_call_is_signed_and_names_itself(world: World, receiver: Receiver) -> None:
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    stand(world, "First")
    (notice,) = sweep_and_deliver()
    assert (notice.state, notice.answer, notice.attempts) == ("done", "status 200", 1)
    ((headers, body),) = receiver.came
    told = json.loads(body)
    assert (told["event"], told["state"], told["system"]) == ("submission.finished", "done", "First")
    assert headers["Holdout-Id"] == told["id"] == str(notice.pk)
    signed = headers["Holdout-Timestamp"].encode() + b"." + body
    digest = hmac.new(deliver.secret(webhook).encode(), signed, hashlib.sha256).hexdigest()
    assert headers["Holdout-Signature"] == f"sha256={digest}"


def test_each_webhook_has_a_secret_of_its_own_that_is_not_stored(world: World, receiver: Receiver) -> None:
    one = webhooks.add(url=receiver.url, by=world.researcher)
    two = webhooks.add(url=f"{receiver.url}2", by=world.researcher)
    secrets = {deliver.secret(one), deliver.secret(two)}
    assert len(secrets) == 2
    stored = json.dumps(list(Webhook.objects.values()), default=str)
    assert not any(secret in stored for secret in secrets)


def test_what_does_not_arrive_is_tried_again_later_and_given_up_at_last(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks.add(url=receiver.url, by=world.researcher)
    stand(world, "First")
    receiver.status = 503
    (notice,) = sweep_and_deliver()
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
    assert {headers["Holdout-Id"] for headers, _ in receiver.came} == {str(notice.pk)}


def test_two_workers_make_one_call(world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has read the row before the first took it; the first call does not arrive, so it stays queued."""
    receiver.status = 503
    webhook = webhooks.add(url=receiver.url, by=world.researcher)
    notice = webhooks.test(webhook=webhook, by=world.researcher)

    class Meanwhile(tuple[timedelta, ...]):
        """Looked at between the first worker's reading and its taking: another comes first."""

        def __getitem__(self, place: Any) -> Any:
            monkeypatch.setattr(deliver, "PAUSES", tuple(self))
            deliver.deliver(notice_id=notice.pk)
            return tuple(self)[place]

    monkeypatch.setattr(deliver, "PAUSES", Meanwhile(deliver.PAUSES))
    deliver.deliver(notice_id=notice.pk)
    assert len(receiver.came) == 1


def test_no_private_address_is_called_unless_the_operator_says_so(
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


def test_webhooks_and_tests_are_few(world: World, receiver: Receiver) -> None:
    made = [webhooks.add(url=f"{receiver.url}{n}", by=world.researcher) for n in range(webhooks.MOST)]
    with pytest.raises(Refused, match="remove one"):
        webhooks.add(url=f"{receiver.url}x", by=world.researcher)
    for _ in range(webhooks.TESTS_AN_HOUR):
        webhooks.test(webhook=made[0], by=world.researcher)
    with pytest.raises(Refused, match="within an hour"):
        webhooks.test(webhook=made[0], by=world.researcher)


def test_old_notices_are_forgotten(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stand(world, "First")
    sweep_and_deliver()
    Notice.objects.update(finished_at=timezone.now() - timedelta(days=31))
    Run.objects.update(finished_at=timezone.now() - timedelta(days=31))
    assert sweep_and_deliver() == []


# --- the page


def test_the_page_shows_a_secret_once(world: World, receiver: Receiver) -> None:
    ada = person(world.researcher)
    added = ada.post(PAGE, {"url": receiver.url})
    secret = deliver.secret(Webhook.objects.get())
    assert added.status_code == 200 and secret in added.content.decode()
    assert read(added.content.decode()).faults == []
    again = ada.get(PAGE).content.decode()
    assert secret not in again and receiver.url in again
    assert read(again).faults == []


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/", "http://127.0.0.1/", "http://u:p@a.example/", "http://a.example:25/"]
)
def test_what_cannot_be_called_is_refused_on_the_page(world: World, url: str) -> None:
    answer = person(world.researcher).post(PAGE, {"url": url})
    assert answer.status_code == 422 and not Webhook.objects.exists()


def test_test_remove_and_mail_from_the_page(world: World, receiver: Receiver) -> None:
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
    for what in ("test", "remove"):
        assert stranger.post(f"/me/webhooks/{webhook.pk}/{what}/").status_code == 404
    assert ada.post(f"/me/webhooks/{webhook.pk}/remove/").status_code == 302
    assert not Webhook.objects.exists()
