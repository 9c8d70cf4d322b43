"""Agreement to the rules and registration of teams: what pages, API and command say, and what is recorded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Benchmark, Notice, Registration, RulesAgreement, Team
from leaderboard.notifications.actions import kinds
from leaderboard.notifications.actions import registrations as notices
from leaderboard.submissions.actions import registrations
from tests.support.api_calls import client_of, footprint, person, send
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
JOIN = "/join/tiny/"
SUBMIT = "/benchmarks/tiny/test/submit/"
PARTICIPANTS = "/manage/benchmarks/tiny/participants/"


def tiny() -> World:
    world = build()
    world.benchmark.organisers.add(world.curator)
    Benchmark.objects.filter(pk=world.benchmark.pk).update(rules="No *training* on the test split.")
    return world


world, _django_db_helper = shared(tiny)


def ask_for(world: World, access: str = "open", agreement: bool = False) -> Benchmark:
    world.phase.benchmark = registrations.set_access(
        benchmark=world.benchmark, access=access, asks_agreement=agreement, by=world.curator
    )
    return world.phase.benchmark


def check(world: World) -> None:
    benchmark = Benchmark.objects.get(pk=world.benchmark.pk)
    registrations.check(benchmark=benchmark, team=world.system.team, by=world.researcher)


def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_an_open_benchmark_asks_for_nothing(world, django_assert_num_queries):
    with django_assert_num_queries(0):
        registrations.check(benchmark=world.benchmark, team=world.system.team, by=world.researcher)


@pytest.mark.parametrize(("access", "agreement"), [("open", True), ("approval", False)])
def test_a_submission_without_the_condition_is_refused_with_the_address(world, access, agreement):
    ask_for(world, access, agreement)
    before = footprint()
    answer = send(client_of(world.researcher), prediction_lines())
    code = "rules_not_agreed" if agreement else "not_registered"
    assert (answer.status_code, answer.json()["code"]) == (403, code)
    assert answer.json()["message"].endswith(f": {settings.BASE_URL}{JOIN}")
    assert footprint() == before


def test_the_form_leads_to_the_rules_and_back(world):
    benchmark = ask_for(world, agreement=True)
    client = browser(world.researcher)
    answer = client.get(SUBMIT)
    assert (answer.status_code, answer["Location"]) == (302, f"{JOIN}?next={quote(SUBMIT, safe='')}")
    page = client.get(answer["Location"])
    assert "No <em>training</em> on the test split." in page.content.decode()
    untouched = client.post(answer["Location"], {"rules_sha256": benchmark.rules_sha256})
    assert untouched.status_code == 422 and not RulesAgreement.objects.exists()
    agreed = client.post(answer["Location"], {"agrees": "on", "rules_sha256": benchmark.rules_sha256})
    assert (agreed.status_code, agreed["Location"]) == (302, SUBMIT)
    row = RulesAgreement.objects.get()
    assert (row.user, row.rules_sha256) == (world.researcher, benchmark.rules_sha256)
    assert client.get(SUBMIT).status_code == 200
    check(world)


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(("access", "agreement"), [("open", True), ("approval", False)])
def test_only_checking_a_file_needs_the_conditions_too(world, access, agreement):
    benchmark = ask_for(world, access, agreement)
    client, about = browser(world.researcher), "/benchmarks/tiny/about/submit/"

    def answer():
        return client.post(SUBMIT, {"check": "1", "file": ContentFile(prediction_lines(), name="p.jsonl")})

    assert answer().status_code == 403
    assert f'href="{JOIN}"' in client.get(about).content.decode()
    if agreement:
        registrations.agree(benchmark=benchmark, rules_sha256=benchmark.rules_sha256, by=world.researcher)
    else:
        registrations.invite(benchmark=benchmark, team=world.system.team, by=world.curator)
    assert answer().status_code == 200
    assert f'href="{JOIN}"' not in client.get(about).content.decode()


def test_changed_rules_are_agreed_to_again(world):
    benchmark = ask_for(world, agreement=True)
    digest = benchmark.rules_sha256
    registrations.agree(benchmark=benchmark, rules_sha256=digest, by=world.researcher)
    Benchmark.objects.filter(pk=benchmark.pk).update(rules="Other rules.")
    with pytest.raises(Refused) as refused:
        check(world)
    assert refused.value.code is Code.RULES_NOT_AGREED
    # The page was opened before the change: what it shows is not what would be agreed to.
    answer = browser(world.researcher).post(JOIN, {"agrees": "on", "rules_sha256": digest})
    assert answer.status_code == 409 and b"Other rules." in answer.content
    assert "current rules" not in browser(world.curator).get(PARTICIPANTS).content.decode()
    changed = Benchmark.objects.get()
    registrations.agree(benchmark=changed, rules_sha256=changed.rules_sha256, by=world.researcher)
    check(world)
    page = browser(world.curator).get(PARTICIPANTS).content.decode()
    assert "the current rules" in page and "earlier rules" in page


def test_a_team_registers_and_the_organisers_decide(world):
    ask_for(world, "approval")
    team, client, organiser = world.system.team, browser(world.researcher), browser(world.curator)
    assert client.get(SUBMIT).status_code == 302
    asked = client.post(JOIN, {"team": team.pk, "message": "We parse."}, follow=True)
    assert "The organisers will answer your registration." in asked.content.decode()
    row = Registration.objects.get()
    assert (row.team, row.state, row.requested_by, row.message) == (team, "requested", world.researcher, "We parse.")
    assert "have not answered yet" in client.get(JOIN).content.decode()
    with pytest.raises(Refused, match="have not answered the registration of"):
        check(world)
    page = organiser.get(PARTICIPANTS).content.decode()
    assert "We parse." in page and read(page).faults == []
    assert read(client.get(JOIN).content.decode()).faults == []
    assert organiser.post(f"{PARTICIPANTS}{row.pk}/decide/", {"decision": "decline"}).status_code == 302
    with pytest.raises(Refused, match="declined the registration of"):
        check(world)
    # It cannot ask again, and the organisers can change their minds.
    client.post(JOIN, {"message": "Please!"})
    assert Registration.objects.get().message == "We parse."
    organiser.post(f"{PARTICIPANTS}{row.pk}/decide/", {"decision": "approve"})
    check(world)
    assert client.get(SUBMIT).status_code == 200
    entries = AuditEntry.objects.filter(action__startswith="registration.").order_by("pk")
    assert [(entry.action, entry.actor, entry.detail) for entry in entries] == [
        ("registration.declined", world.curator, {"team": team.name}),
        ("registration.approved", world.curator, {"team": team.name}),
    ]


def test_a_user_without_a_team_registers_in_one_step(world):
    ask_for(world, "approval")
    newcomer = person("newcomer")
    assert "One is created for you" in browser(newcomer).get(JOIN).content.decode()
    assert browser(newcomer).post(JOIN, {"message": ""}).status_code == 302
    assert Registration.objects.get().team in newcomer.teams.all()


def test_one_approved_team_does_not_open_the_benchmark_to_another(world):
    ask_for(world, "approval")
    registrations.invite(benchmark=world.benchmark, team=world.system.team, by=world.curator)
    other = teams.create(name="Other", by=world.researcher)
    answer = send(client_of(world.researcher), prediction_lines(), team=other.name)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_registered")
    check(world)


def test_teams_that_have_submitted_are_registered(world):
    stand(world, "Early", [score("accuracy", 0.5)])
    early = Team.objects.filter(systems__name="Early").get()
    ask_for(world, "approval")
    assert list(Registration.objects.values_list("team", "state")) == [(early.pk, "approved")]


def test_organisers_are_notified_once_of_a_registration(world):
    benchmark, team = ask_for(world, "approval"), world.system.team
    registrations.request(benchmark=benchmark, team=team, message="secret plans", by=world.researcher)
    at = timezone.now()
    for _ in range(2):
        notices.write(at - timedelta(days=1), at)
    (notice,) = Notice.objects.all()
    assert (notice.user, notice.state) == (world.curator, Notice.State.SITE)
    assert kinds.words(notice)[0] == f"{team} asks to register for Tiny claims"
    page = browser(world.curator).get("/me/notifications/").content.decode()
    assert f'href="{PARTICIPANTS}"' in page and "secret plans" not in str(notice.body)
    world.benchmark.organisers.clear()
    assert not kinds.is_for(notice)


def test_answered_registrations_notify_nobody(world):
    benchmark, team = ask_for(world, "approval"), world.system.team
    registrations.request(benchmark=benchmark, team=team, message="", by=world.researcher)
    registrations.decide(benchmark=benchmark, team=team, approve=False, by=world.curator)
    assert notices.write(timezone.now() - timedelta(days=1), timezone.now()) == 0


def test_managers_of_the_benchmark_are_exempt(world):
    benchmark = ask_for(world, "approval", agreement=True)
    registrations.check(benchmark=benchmark, team=world.system.team, by=world.curator)


def test_only_organisers_change_access_and_decide(world):
    team = world.system.team
    for act in (
        lambda: ask_for_by(world, world.researcher),
        lambda: registrations.invite(benchmark=world.benchmark, team=team, by=world.researcher),
        lambda: registrations.decide(benchmark=world.benchmark, team=team, approve=True, by=world.researcher),
    ):
        with pytest.raises(Refused) as refused, transaction.atomic():
            act()
        assert refused.value.code is Code.NOT_AN_ORGANISER


def ask_for_by(world: World, by: Any) -> None:
    registrations.set_access(benchmark=world.benchmark, access="approval", asks_agreement=False, by=by)


def test_an_agreement_needs_rules_and_the_form_says_so_at_its_field(world):
    Benchmark.objects.update(rules="")
    answer = browser(world.curator).post(PARTICIPANTS, {"access": "open", "asks_agreement": "on"})
    assert answer.status_code == 409
    assert "no rules to agree to" in str(answer.context["access_form"].errors["asks_agreement"])
    assert not Benchmark.objects.get().asks_agreement


def test_the_database_keeps_state_and_access_together(world):
    for fields in ({"state": "private"}, {"access": "invited"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Benchmark.objects.filter(pk=world.benchmark.pk).update(**fields)


def test_next_leads_to_this_site_only(world):
    client = browser(world.researcher)
    for target, expected in (("https://evil.example/", ""), ("//evil.example/", ""), (SUBMIT, SUBMIT)):
        assert client.get(JOIN, {"next": target}).context["next"] == expected


@pytest.mark.parametrize(("access", "sentence"), [("open", "submit without registering"), ("invited", "invite")])
def test_a_request_is_refused_where_none_is_needed_or_none_helps(world, access, sentence):
    benchmark = ask_for(world, access)
    with pytest.raises(Refused, match=sentence) as refused:
        registrations.request(benchmark=benchmark, team=world.system.team, message="", by=world.researcher)
    assert refused.value.code == Code.NOT_POSSIBLE
