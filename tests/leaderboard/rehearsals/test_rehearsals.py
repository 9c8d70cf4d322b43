"""Rehearsals: the complete path for organisers and testers only; nothing of it counts in the phase."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.benchmarks.actions import benchmarks, deadlines
from leaderboard.core.refusal import Code
from leaderboard.datasets.actions import splits
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Extension,
    Membership,
    Notice,
    Phase,
    QuotaCharge,
    Rehearsal,
    Release,
    Run,
    Split,
    State,
    Submission,
    System,
    User,
)
from leaderboard.notifications.actions import deliver
from leaderboard.rehearsals import actions
from leaderboard.scoring.actions import runs, sealed_phases
from leaderboard.scoring.queries import leakage_budget
from leaderboard.submissions.actions import registrations
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.api_calls import client_of, fixed_text, person
from tests.support.rows.gold_uploads import close_all, refusal, uploaded
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import DRAFT, LABELS, World, build, gold_lines, prediction_lines

pytestmark = pytest.mark.django_db
SLUG = "tiny-test-rehearsal"
WRONG = {**LABELS, "a1": "REFUTES"}


def built() -> World:
    tiny = build()
    Benchmark.objects.update(state="draft")
    tiny.benchmark.refresh_from_db()
    tiny.phase.refresh_from_db()
    return tiny


world, _django_db_helper = shared_states(world=built)


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def start_rehearsal(world: World, *, testers: Any = None, **more: Any) -> Rehearsal:
    fields = {"ends_at": None, "testers": [world.researcher] if testers is None else testers, **more}
    return actions.begin(phase=world.phase, by=world.curator, **fields)


def copy_of(rehearsal: Rehearsal) -> Phase:
    return rehearsal.benchmark.phases.select_related("benchmark", "split__dataset").get()


def end_rehearsal(rehearsal: Rehearsal, world: World) -> Rehearsal:
    return actions.end(rehearsal=Rehearsal.objects.get(pk=rehearsal.pk), by=world.curator)


def pass_closing_date(rehearsal: Rehearsal) -> datetime:
    """Makes its phase close half an hour ago; nobody has ended it."""
    past = timezone.now() - timedelta(minutes=30)
    Phase.objects.filter(benchmark=rehearsal.benchmark).update(closes_at=past)
    return past


def status(user: User | None, address: str) -> int:
    client = Client()
    if user:
        client.force_login(user)
    return client.get(address).status_code


def body(user: User, address: str) -> str:
    client = Client()
    client.force_login(user)
    return client.get(address).content.decode()


ADDRESSES = (
    f"/benchmarks/{SLUG}/",
    f"/benchmarks/{SLUG}/test/",
    f"/benchmarks/{SLUG}/splits/test/",
    f"/benchmarks/{SLUG}/splits/test/inputs.jsonl",
    f"/api/v1/benchmarks/{SLUG}/",
    f"/api/v1/benchmarks/{SLUG}/phases/test/leaderboard/",
    f"/api/v1/benchmarks/{SLUG}/phases/test/leaderboard.csv",
)


class TestPath:
    @pytest.mark.usefixtures("sandbox")
    def test_a_submission_is_validated_charged_scored_shown_and_mailed(self, world: World) -> None:
        Split.objects.update(**DRAFT)
        User.objects.filter(pk=world.researcher.pk).update(mailed_since=timezone.now() - timedelta(days=1))
        phase = copy_of(start_rehearsal(world))
        assert refusal(world.submit, phase=phase, labels={**LABELS, "a1": "MAYBE"}).code is Code.INVALID_PREDICTIONS
        submission = world.submit(WRONG, phase=phase)
        assert quota_of(phase=phase, team=world.system.team).used_total == 1
        runs.WORK.run(Run.objects.get().pk)
        assert Release.objects.get().phase == phase
        client = Client()
        client.force_login(world.researcher)
        board = client.get(f"/benchmarks/{SLUG}/test/").content.decode()
        assert "Bernoulli" in board and "0.750" in board
        assert "This is a rehearsal" in board
        assert "This is a rehearsal" in client.get(f"/submissions/{submission.pk}/").content.decode()
        deliver.sweep()
        for notice in Notice.objects.all():
            deliver.deliver(notice_id=notice.pk)
        assert [world.system.name in message.subject for message in mail.outbox] == [True]

    def test_it_has_the_rules_of_its_phase(self, world: World) -> None:
        tracks = [{"name": "a", "title": "A", "description": ""}]
        fields = {"quota_per_day": 2, "quota_total": 3, "disclosure": "ladder", "scope": "task", "tracks": tracks}
        fields |= {"exact_scores": False, "least_groups": 7, "detailed_answers": 3, "afterwards": "improvements"}
        Phase.objects.update(**fields, opens_at=timezone.now() + timedelta(days=3), options={"max_evidence": "none"})
        world.phase.refresh_from_db()
        phase = copy_of(start_rehearsal(world))
        assert {name: getattr(phase, name) for name in fields} == fields
        assert (phase.options, phase.split) == ({"max_evidence": "none"}, world.split)
        # It ends when the phase itself opens.
        assert (phase.opens_at, phase.closes_at) == (None, world.phase.opens_at)

    def test_it_has_the_conditions_of_its_benchmark(self, world: World) -> None:
        asked = [{"name": "open", "title": "Open weights", "kind": "yes-no"}]
        fields = {"facts": asked, "teams_may_hide": False, "asks_agreement": True, "rules": "Be fair."}
        Benchmark.objects.update(**fields)
        world.benchmark.refresh_from_db()
        world.phase.refresh_from_db()
        phase = copy_of(start_rehearsal(world))
        assert {name: getattr(phase.benchmark, name) for name in fields} == fields
        assert refusal(world.submit, phase=phase).code is Code.RULES_NOT_AGREED
        assert "Be fair." in body(world.researcher, f"/join/{SLUG}/")
        registrations.agree(benchmark=phase.benchmark, rules_sha256=phase.benchmark.rules_sha256, by=world.researcher)
        assert "Open weights" in body(world.researcher, f"/benchmarks/{SLUG}/test/submit/")
        assert registrations.may_submit(phase.benchmark, world.researcher)

    @pytest.mark.usefixtures("sandbox")
    def test_a_sealed_phase_can_be_opened_in_its_rehearsal(self, world: World) -> None:
        later = timezone.now() + timedelta(days=9)
        Phase.objects.update(disclosure="sealed", sealed_until=later, closes_at=later)
        world.phase.refresh_from_db()
        assert refusal(start_rehearsal, world=world).code is Code.INVALID_VALUE
        soon = timezone.now() + timedelta(hours=1)
        phase = copy_of(start_rehearsal(world, ends_at=soon))
        assert (phase.sealed_until, phase.closes_at) == (soon, soon)
        world.submit(phase=phase)
        past = timezone.now() - timedelta(hours=1)
        Phase.objects.filter(pk=phase.pk).update(closes_at=past, sealed_until=past)
        assert sealed_phases.sweep() == 1
        assert Run.objects.get().state == State.QUEUED

    def test_testers_are_named_by_team_or_account(self, world: World) -> None:
        bob = person("bob")
        team = teams.create(name="Difference", by=person("charles"))
        testers = actions.find_testers(["bob", "Difference"])
        assert {tester.username for tester in testers} == {"bob", "charles"}
        refused = refusal(actions.find_testers, names=["bob", "nobody", "No team"])
        assert "nobody, No team" in refused.message
        rehearsal = start_rehearsal(world, testers=[bob])
        actions.set_testers(rehearsal=rehearsal, testers=list(team.members.all()), by=world.curator)
        assert [tester.username for tester in rehearsal.testers.all()] == ["charles"]
        assert status(bob, ADDRESSES[0]) == 404


class TestVisibility:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_only_testers_and_managers_see_it(self, world: World, address: str) -> None:
        Split.objects.update(**DRAFT)
        organiser, stranger = person("olga"), person("eve")
        world.benchmark.organisers.add(organiser)
        start_rehearsal(world)
        statuses = [status(user, address) for user in (world.curator, organiser, world.researcher, stranger, None)]
        # The real benchmark is a draft, which testers cannot see.
        assert statuses == [200, 200, 200, 404, 404]
        assert status(world.researcher, "/benchmarks/tiny/") == 404
        assert status(world.researcher, f"/manage/benchmarks/{SLUG}/") == 404

    @pytest.mark.usefixtures("sandbox")
    def test_no_public_page_reveals_it(self, world: World) -> None:
        Benchmark.objects.update(state="public")
        Phase.objects.update(opens_at=timezone.now() + timedelta(days=1))
        world.benchmark.refresh_from_db()
        world.phase.refresh_from_db()
        phase = copy_of(start_rehearsal(world))
        world.submit(WRONG, phase=phase)
        runs.WORK.run(Run.objects.get().pk)
        for user in (None, person("eve")):
            client = Client()
            if user:
                client.force_login(user)
            for address in (
                *("/", "/tasks/", "/feed.atom", "/benchmarks/tiny/", "/benchmarks/tiny/test/", "/api/v1/benchmarks/"),
                *("/benchmarks/tiny/feed.atom", "/benchmarks/tiny/splits/test/", "/tasks/fact-verification/"),
            ):
                answer = client.get(address)
                body = b"".join(answer.streaming_content) if answer.streaming else answer.content
                assert answer.status_code == 200
                assert b"ehearsal" not in body and "0.750" not in fixed_text(body) and b"Bernoulli" not in body, address
            assert status(user, f"/systems/{world.system.pk}/") == 404

    @pytest.mark.usefixtures("sandbox")
    @pytest.mark.parametrize("where", ["draft", "rehearsal"])
    def test_team_members_who_are_no_testers_see_nothing(self, world: World, where: str) -> None:
        mate, team = person("mate"), world.system.team
        Membership.objects.create(team=team, user=mate)
        User.objects.update(mailed_since=timezone.now() - timedelta(days=1))
        if where == "draft":
            world.benchmark.organisers.add(world.researcher)
        submission = world.submit(WRONG, phase=world.phase if where == "draft" else copy_of(start_rehearsal(world)))
        runs.WORK.run(Run.objects.get().pk)
        pages = [submission.get_absolute_url(), f"/api/v1/submissions/{submission.pk}/", f"/systems/{world.system.pk}/"]
        lists = ["/me/submissions/", "/api/v1/submissions/"]
        for user, is_visible in ((world.researcher, True), (mate, False)):
            assert [status(user, address) for address in pages] == [200 if is_visible else 404] * 3
            assert [str(submission.pk) in body(user, address) for address in lists] == [is_visible] * 2
        assert (deliver.sweep(), Notice.objects.get().user) == (1, world.researcher)
        Benchmark.objects.filter(pk=world.benchmark.pk).update(state="public")
        # Submissions to the draft are then visible and mailed; the rehearsal stays hidden.
        published = where == "draft"
        assert [status(mate, address) for address in pages] == [200 if published else 404] * 3
        assert (deliver.sweep(), Notice.objects.filter(user=mate).exists()) == (int(published), published)

    def test_it_is_never_published(self, world: World) -> None:
        rehearsal = start_rehearsal(world)
        refused = refusal(benchmarks.publish, benchmark=rehearsal.benchmark, by=world.curator)
        assert "cannot be published" in refused.message
        assert Benchmark.objects.get(pk=rehearsal.benchmark_id).state == "rehearsal"


class TestStart:
    def test_it_starts_only_before_the_phase_opens(self, world: World) -> None:
        Benchmark.objects.update(state="public")
        world.phase.benchmark.refresh_from_db()
        assert "has opened" in refusal(start_rehearsal, world=world).message
        Phase.objects.update(opens_at=timezone.now() + timedelta(hours=2))
        world.phase.refresh_from_db()
        assert (
            refusal(start_rehearsal, world=world, ends_at=timezone.now() + timedelta(hours=3)).code
            is Code.INVALID_VALUE
        )
        assert refusal(start_rehearsal, world=world, ends_at=timezone.now()).code is Code.INVALID_VALUE
        assert start_rehearsal(world)

    def test_a_phase_has_one_rehearsal_at_a_time_and_a_rehearsal_has_none(self, world: World) -> None:
        rehearsal = start_rehearsal(world)
        assert "already has a rehearsal" in refusal(start_rehearsal, world=world).message
        copy = copy_of(rehearsal)
        fields = {"testers": [], "ends_at": None, "by": world.curator}
        assert "belongs to a rehearsal" in refusal(actions.begin, phase=copy, **fields).message
        end_rehearsal(rehearsal, world)
        assert start_rehearsal(world).benchmark.slug == f"{SLUG}-1"

    def test_strangers_cannot_start_or_change_it(self, world: World) -> None:
        fields = {"testers": [], "ends_at": None, "by": world.researcher}
        assert refusal(actions.begin, phase=world.phase, **fields).code is Code.NOT_AN_ORGANISER
        rehearsal = start_rehearsal(world)
        assert refusal(actions.end, rehearsal=rehearsal, by=world.researcher).code is Code.NOT_AN_ORGANISER
        changes = {"rehearsal": rehearsal, "testers": [], "by": world.researcher}
        assert refusal(actions.set_testers, **changes).code is Code.NOT_AN_ORGANISER

    def test_a_benchmark_with_a_rehearsal_is_not_published(self, world: World) -> None:
        rehearsal = start_rehearsal(world)
        assert (
            "during its rehearsal" in refusal(benchmarks.publish, benchmark=world.benchmark, by=world.curator).message
        )
        end_rehearsal(rehearsal, world)
        assert benchmarks.publish(benchmark=world.benchmark, by=world.curator).state == "public"


@pytest.mark.usefixtures("sandbox")
class TestEnd:
    def test_the_phase_starts_empty(self, world: World) -> None:
        rehearsal = start_rehearsal(world)
        phase = copy_of(rehearsal)
        world.submit(WRONG, phase=phase)
        runs.WORK.run(Run.objects.get().pk)
        end_rehearsal(rehearsal, world)
        for model in (Submission, QuotaCharge, Release):
            assert not model.objects.filter(phase=world.phase).exists()
            assert model.objects.filter(phase=phase).exists(), "it stays to be read"
        assert quota_of(phase=world.phase, team=world.system.team).used_total == 0
        budget = leakage_budget.budget_of(world.phase)
        assert budget.own_bits == 0
        # What was revealed of the gold to testers is shown with it.
        assert [len(other.answers) for other in budget.others] == [1] and budget.bits > 0
        assert world.phase.leaderboards.count() == 0
        acts = AuditEntry.objects.filter(subject=f"phase:{world.phase.pk}").order_by("pk")
        assert [entry.action for entry in acts] == ["rehearsal.begun", "rehearsal.ended"]

    def test_it_accepts_no_more_and_waiting_runs_are_not_scored(self, world: World) -> None:
        rehearsal = start_rehearsal(world)
        phase = copy_of(rehearsal)
        world.submit(phase=phase)
        end_rehearsal(rehearsal, world)
        assert (Run.objects.get().state, Run.objects.get().reason) == (State.CANCELLED, "withdrawn")
        runs.WORK.run(Run.objects.get().pk)
        assert not Release.objects.exists()
        refused = refusal(world.submit, phase=copy_of(rehearsal))
        assert refused.code is Code.PHASE_CLOSED
        assert "is over" in refusal(actions.end, rehearsal=rehearsal, by=world.curator).message

    def test_a_tester_may_compete_for_another_team_after_it(self, world: World) -> None:
        phase = copy_of(start_rehearsal(world))
        world.submit(phase=phase)
        Benchmark.objects.filter(pk=world.benchmark.pk).update(state="public")
        other = teams.system(team=teams.create(name="Second", by=world.researcher), name="Euler", by=world.researcher)
        assert refusal(world.submit, phase=phase, system=other).code is Code.OTHER_TEAM
        assert world.submit(system=other).system == other

    def test_a_draft_can_get_other_items_after_its_end(self, world: World) -> None:
        Split.objects.update(**DRAFT)
        world.split.refresh_from_db()
        rehearsal = start_rehearsal(world)
        world.submit(phase=copy_of(rehearsal))
        other = gold_lines().replace(b"claim 0", b"claim 7")
        fields = {"split": world.split, "reason": "better", "by": world.curator}
        assert refusal(splits.add_gold, file=uploaded(other, "gold.jsonl"), **fields).code is Code.INPUTS_CHANGED
        end_rehearsal(rehearsal, world)
        n = Run.objects.count()
        assert splits.add_gold(file=uploaded(other, "gold.jsonl"), **fields).number == 2
        # Submissions for other items are not rescored.
        assert Run.objects.count() == n

    def test_testers_see_a_drafts_data_until_its_end(self, world: World) -> None:
        Split.objects.update(**DRAFT)
        rehearsal = start_rehearsal(world)
        inputs = f"/benchmarks/{SLUG}/splits/test/inputs.jsonl"
        assert status(world.researcher, inputs) == 200
        end_rehearsal(rehearsal, world)
        assert (status(world.researcher, inputs), status(world.researcher, ADDRESSES[0])) == (404, 404)

    def test_after_its_end_only_managers_see_it(self, world: World) -> None:
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        rehearsal = start_rehearsal(world)
        submission = world.submit(WRONG, phase=copy_of(rehearsal))
        runs.WORK.run(Run.objects.get().pk)
        own = [
            submission.get_absolute_url(),
            f"/api/v1/submissions/{submission.pk}/",
            f"/submissions/{submission.pk}/receipt.json",
        ]
        pages = [*ADDRESSES, f"/benchmarks/{SLUG}/test/submit/", f"/api/v1/benchmarks/{SLUG}/", *own]
        lists = ["/me/submissions/", "/api/v1/submissions/", f"/systems/{world.system.pk}/"]
        assert {address: status(world.researcher, address) for address in pages} == dict.fromkeys(pages, 200)
        assert all(str(submission.pk) in body(world.researcher, address) for address in lists)
        end_rehearsal(rehearsal, world)
        for user, expected in ((world.researcher, 404), (organiser, 200), (world.curator, 200)):
            assert {address: status(user, address) for address in pages} == dict.fromkeys(pages, expected)
        assert not any(str(submission.pk) in body(world.researcher, address) for address in lists)

    @pytest.mark.parametrize(
        "end", [end_rehearsal, lambda rehearsal, _: pass_closing_date(rehearsal)], ids=["end_rehearsal", "its date"]
    )
    def test_after_its_end_testers_do_not_see_its_systems(self, world: World, end: Any) -> None:
        world.benchmark.organisers.add(organiser := person("olga"))
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        copied, team = copy_of(rehearsal), world.system.team
        world.submit(WRONG, phase=copied, system=teams.find_system(team=team, name="Practised"))
        practised = System.objects.get(name="Practised")
        pages = [f"/systems/{practised.pk}/", f"/systems/{practised.pk}/edit/"]
        lists = [f"/me/teams/{team.pk}/", "/api/v1/teams/", f"/api/v1/teams/{team.pk}/"]
        assert [status(world.researcher, address) for address in pages] == [200, 200]
        assert ["Practised" in body(world.researcher, address) for address in lists] == [True, True, True]
        end(rehearsal, world)
        assert [status(world.researcher, address) for address in pages] == [404, 404]
        assert ["Practised" in body(world.researcher, address) for address in lists] == [False, False, False]
        # Bernoulli, which has no submission yet.
        assert '<td class="num">1</td>' in body(world.researcher, "/me/teams/")
        Membership.objects.create(team=team, user=organiser)
        assert "Practised" in body(organiser, f"/me/teams/{team.pk}/")
        # The team can compete under its name, and only its later submissions are shown.
        Benchmark.objects.filter(pk=world.benchmark.pk).update(state="public")
        world.phase.refresh_from_db()
        world.submit(phase=world.phase, system=practised)
        assert [status(world.researcher, address) for address in pages] == [200, 200]
        page = body(world.researcher, f"/me/teams/{team.pk}/")
        assert re.search(r'<bdi>Practised</bdi></a></th><td class="num">1</td>', page)

    def test_a_sealed_rehearsal_that_ended_is_never_opened(self, world: World) -> None:
        later = timezone.now() + timedelta(days=9)
        Phase.objects.update(disclosure="sealed", sealed_until=later, closes_at=later)
        world.phase.refresh_from_db()
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        world.submit(phase=copy_of(rehearsal))
        end_rehearsal(rehearsal, world)
        Phase.objects.filter(benchmark=rehearsal.benchmark).update(sealed_until=timezone.now())
        assert sealed_phases.sweep() == 0


@pytest.mark.usefixtures("sandbox")
class TestEndDate:
    """A rehearsal ends by itself at its date."""

    def test_from_its_date_only_managers_see_it(self, world: World) -> None:
        Split.objects.update(**DRAFT)
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        submission = world.submit(WRONG, phase=copy_of(rehearsal))
        runs.WORK.run(Run.objects.get().pk)
        pages = [*ADDRESSES, submission.get_absolute_url(), f"/api/v1/submissions/{submission.pk}/"]
        lists = ["/me/submissions/", "/api/v1/submissions/"]
        assert {address: status(world.researcher, address) for address in pages} == dict.fromkeys(pages, 200)
        pass_closing_date(rehearsal)
        for user, expected in ((world.researcher, 404), (organiser, 200), (world.curator, 200)):
            assert {address: status(user, address) for address in pages} == dict.fromkeys(pages, expected)
        assert not any(str(submission.pk) in body(world.researcher, address) for address in lists)
        assert "This rehearsal is over" in body(organiser, ADDRESSES[0])

    def test_it_is_open_before_its_date_and_during_an_extension(self, world: World) -> None:
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        fields = {"closes_at": timezone.now() + timedelta(hours=2), "reason": "a power cut", "by": world.curator}
        deadlines.extend(phase=copy_of(rehearsal), team=world.system.team, **fields)
        assert (actions.sweep(), rehearsal.is_over) == (0, False)
        pass_closing_date(rehearsal)
        assert (actions.sweep(), rehearsal.is_over) == (0, False)
        assert status(world.researcher, ADDRESSES[0]) == 200
        Extension.objects.update(before=timezone.now() - timedelta(hours=1), closes_at=pass_closing_date(rehearsal))
        assert rehearsal.is_over and status(world.researcher, ADDRESSES[0]) == 404
        assert actions.sweep() == 1

    def test_the_sweep_records_its_end_once_and_submissions_are_scored(self, world: World) -> None:
        User.objects.filter(pk=world.researcher.pk).update(mailed_since=timezone.now() - timedelta(days=1))
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        world.submit(WRONG, phase=copy_of(rehearsal))
        date = pass_closing_date(rehearsal)
        assert (actions.sweep(), actions.sweep()) == (1, 0)
        rehearsal.refresh_from_db()
        assert (rehearsal.ended_at, rehearsal.ended_by) == (date, world.curator)
        last = AuditEntry.objects.filter(action="rehearsal.ended").get()
        assert (last.actor, last.detail["submissions"]) == (None, 1)
        runs.WORK.run(Run.objects.get().pk)
        assert Release.objects.get().phase == copy_of(rehearsal)
        assert deliver.sweep() == 0, "its testers may not read what a mail would lead to"
        assert benchmarks.publish(benchmark=world.benchmark, by=world.curator).state == "public"

    def test_a_sealed_rehearsal_is_opened_at_its_date_in_any_order_of_sweeps(self, world: World) -> None:
        later = timezone.now() + timedelta(days=9)
        Phase.objects.update(disclosure="sealed", sealed_until=later, closes_at=later)
        world.phase.refresh_from_db()
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        world.submit(phase=copy_of(rehearsal))
        Phase.objects.filter(benchmark=rehearsal.benchmark).update(sealed_until=pass_closing_date(rehearsal))
        assert (actions.sweep(), sealed_phases.sweep()) == (1, 1)
        assert Run.objects.get().state == State.QUEUED

    def test_another_can_start_immediately_and_the_former_stays_ended(self, world: World) -> None:
        rehearsal = start_rehearsal(world, ends_at=timezone.now() + timedelta(hours=1))
        pass_closing_date(rehearsal)
        assert "is over" in refusal(actions.end, rehearsal=rehearsal, by=world.curator).message
        fields = {"closes_at": timezone.now() + timedelta(hours=2), "reason": "more time", "by": world.curator}
        assert "is over" in refusal(deadlines.extend, phase=copy_of(rehearsal), **fields).message
        assert start_rehearsal(world).benchmark.slug == f"{SLUG}-1"
        page = body(world.curator, TestPage.WHERE)
        assert f"<bdi>{SLUG}</bdi>" in page and "End rehearsal" in page


@pytest.mark.usefixtures("sandbox")
def test_testers_submit_by_the_api(world: World) -> None:
    start_rehearsal(world)
    url = f"/api/v1/benchmarks/{SLUG}/phases/test/submissions/"
    for user, expected in ((world.researcher, 201), (person("eve"), 404)):
        file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
        answer = client_of(user).post(url, {"system": "Bernoulli", "file": file})
        assert answer.status_code == expected, answer.content
    assert System.objects.count() == 1


class TestPage:
    WHERE = "/manage/benchmarks/tiny/phases/test/rehearsal/"

    def test_it_is_started_followed_and_ended(self, world: World) -> None:
        client = Client()
        client.force_login(world.curator)
        assert "Scores of a rehearsal reveal information about hidden gold" in client.get(self.WHERE).content.decode()
        unknown = client.post(self.WHERE, {"testers": "ada\nnobody"})
        assert (unknown.status_code, Rehearsal.objects.exists()) == (422, False)
        assert "has the name nobody" in unknown.content.decode() and "ada" in unknown.content.decode()
        assert client.post(self.WHERE, {"testers": "ada\r\n\r\nada"}).status_code == 302
        rehearsal = Rehearsal.objects.get()
        assert [tester.username for tester in rehearsal.testers.all()] == ["ada"]
        assert f"/benchmarks/{SLUG}/test/" in client.get(self.WHERE).content.decode()
        assert client.post(f"{self.WHERE}{rehearsal.pk}/testers/", {"testers": ""}).status_code == 302
        assert not rehearsal.testers.exists()
        assert client.post(f"{self.WHERE}{rehearsal.pk}/end/").status_code == 302
        assert client.post(f"{self.WHERE}{rehearsal.pk}/end/").status_code == 409
        page = client.get(self.WHERE).content.decode()
        assert "Start rehearsal" in page and SLUG in page
        # After its end it is listed with its phase and not on the management pages.
        assert SLUG not in client.get("/manage/").content.decode()
        assert "This rehearsal is over" in client.get(f"/benchmarks/{SLUG}/").content.decode()

    def test_a_past_date_is_refused_in_the_form(self, world: World) -> None:
        client = Client()
        client.force_login(world.curator)
        answer = client.post(self.WHERE, {"testers": "", "ends_at": "2020-01-01T00:00"})
        assert (answer.status_code, "is in the past" in answer.content.decode()) == (422, True)
