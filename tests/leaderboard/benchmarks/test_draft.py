"""A draft is live for its organisers and testers, and nothing of it remains after *Reset*, nor once it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import DateTimeField
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.archives.actions import exports
from leaderboard.benchmarks.actions import benchmarks, draft, edit_phase
from leaderboard.boards.actions import boards
from leaderboard.core.refusal import Code
from leaderboard.curation.actions import baselines
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Comparison,
    Disqualification,
    Extension,
    Final,
    HeadToHead,
    HiddenSubmission,
    ImageUpload,
    Leaderboard,
    Membership,
    NearDuplicate,
    Notice,
    Phase,
    Placement,
    PlotPicture,
    PlotRendering,
    Prediction,
    QuotaCharge,
    RankChange,
    Ranking,
    RankSnapshot,
    Registration,
    Release,
    Representative,
    RulesAgreement,
    Run,
    Split,
    State,
    Submission,
    System,
    Team,
    User,
    WorkerReport,
)
from leaderboard.notifications.actions import deliver
from leaderboard.scoring.actions import runs
from leaderboard.scoring.queries import leakage_budget
from leaderboard.submissions.actions import registrations
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.api_calls import client_of, person
from tests.support.rows import container_rows
from tests.support.rows.gold_uploads import close_all, refusal, uploaded
from tests.support.rows.module_rows import rolled_back, shared_states
from tests.support.rows.tiny_world import DRAFT, LABELS, World, build, gold_lines, prediction_lines

pytestmark = pytest.mark.django_db
WRONG = {**LABELS, "a1": "REFUTES"}
NEXT_YEAR = timezone.now() + timedelta(days=365)
ADDRESSES = (
    "/benchmarks/tiny/",
    "/benchmarks/tiny/test/",
    "/benchmarks/tiny/test/submit/",
    "/benchmarks/tiny/splits/test/",
    "/benchmarks/tiny/splits/test/inputs.jsonl",
    "/api/v1/benchmarks/tiny/",
    "/api/v1/benchmarks/tiny/phases/test/leaderboard/",
    "/api/v1/benchmarks/tiny/phases/test/leaderboard.csv",
)


def built() -> World:
    """A draft on a draft split, whose phase opens next year; the researcher is a tester."""
    world = build()
    Benchmark.objects.update(state="draft")
    Split.objects.update(**DRAFT)
    Phase.objects.update(opens_at=NEXT_YEAR)
    for row in (world.benchmark, world.split, world.phase):
        row.refresh_from_db()
    draft.set_testers(benchmark=world.benchmark, testers=[world.researcher], by=world.curator)
    return world


world, _django_db_helper = shared_states(world=built)


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def score_all() -> None:
    for run in Run.objects.filter(state=State.QUEUED):
        runs.WORK.run(run.pk)


def publish(world: World) -> None:
    lifecycle.publish_unaudited(split=Split.objects.get(), by=world.curator)
    benchmarks.publish(benchmark=Benchmark.objects.get(), by=world.curator)


def browser_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def status(user: User | None, address: str) -> int:
    return int(browser_of(user).get(address).status_code)


def body(user: User | None, address: str) -> str:
    return browser_of(user).get(address).content.decode()


@pytest.mark.usefixtures("sandbox")
class TestLive:
    def test_a_tester_submits_before_the_phase_opens_and_nobody_is_told(self, world: World) -> None:
        User.objects.update(mailed_since=timezone.now() - timedelta(days=1))
        world.benchmark.organisers.add(world.curator)
        assert refusal(world.submit, labels={**LABELS, "a1": "MAYBE"}).code is Code.INVALID_PREDICTIONS
        submission = world.submit(WRONG)
        assert quota_of(phase=world.phase, team=world.system.team).used_total == 1
        score_all()
        board = body(world.researcher, "/benchmarks/tiny/test/")
        assert "Bernoulli" in board and "0.750" in board and "This is a draft." in board
        assert "This is a draft." in body(world.researcher, f"/submissions/{submission.pk}/")
        assert (deliver.sweep(), Notice.objects.count(), mail.outbox) == (0, 0, [])

    def test_only_organisers_and_testers_see_it(self, world: World) -> None:
        organiser, mate, other = person("olga"), person("mate"), person("eve")
        operator = person("root", is_staff=True, is_superuser=True)
        world.benchmark.organisers.add(organiser)
        Membership.objects.create(team=world.system.team, user=mate)
        submission = world.submit(WRONG)
        score_all()
        own = (f"/submissions/{submission.pk}/", f"/api/v1/submissions/{submission.pk}/")
        for user in (world.researcher, organiser, world.curator):
            assert {address: status(user, address) for address in (*ADDRESSES, *own)} == dict.fromkeys(
                (*ADDRESSES, *own), 200
            )
        for user in (mate, other, operator):
            assert {status(user, address) for address in (*ADDRESSES, *own)} == {404}
            for place in ("/", "/?q=claims", "/api/v1/benchmarks/", "/tasks/fact-verification/"):
                assert "tiny" not in body(user, place).lower(), place
        public = ("/", "/sitemap.xml", "/feed.atom", "/status/", "/api/v1/benchmarks/", "/tasks/fact-verification/")
        for place in public:
            assert "tiny" not in body(None, place).lower(), place
        # Not even the team's own lists show it to those who are no testers.
        assert str(submission.pk) in body(world.researcher, "/me/submissions/")
        assert str(submission.pk) not in body(mate, "/me/submissions/")
        assert status(None, f"/teams/{world.system.team_id}/") == status(None, f"/systems/{world.system.pk}/") == 404

    def test_testers_submit_by_the_api(self, world: World) -> None:
        url = "/api/v1/benchmarks/tiny/phases/test/submissions/"
        for user, expected in ((world.researcher, 201), (person("eve"), 404)):
            file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
            assert client_of(user).post(url, {"system": "Bernoulli", "file": file}).status_code == expected

    def test_a_former_tester_sees_nothing(self, world: World) -> None:
        submission = world.submit(WRONG)
        draft.set_testers(benchmark=world.benchmark, testers=[], by=world.curator)
        addresses = (*ADDRESSES, f"/submissions/{submission.pk}/")
        assert {status(world.researcher, address) for address in addresses} == {404}

    @pytest.mark.parametrize("access", ["approval", "invited"])
    def test_testers_agree_to_the_rules_and_need_no_registration(self, world: World, access: str) -> None:
        Benchmark.objects.update(access=access, rules="Be nice.", asks_agreement=True)
        world.phase.benchmark.refresh_from_db()
        assert refusal(world.submit).code is Code.RULES_NOT_AGREED
        row = world.phase.benchmark
        registrations.agree(benchmark=row, rules_sha256=row.rules_sha256, by=world.researcher)
        assert world.submit().phase == world.phase
        # Teams of testers are not registered with those that submit to a published benchmark.
        registrations.set_access(benchmark=row, access="invited", asks_agreement=True, by=world.curator)
        assert not Registration.objects.exists()

    def test_the_phase_closes_at_its_date(self, world: World) -> None:
        Phase.objects.update(opens_at=None, closes_at=timezone.now() - timedelta(days=1))
        world.phase.refresh_from_db()
        assert refusal(world.submit).code is Code.PHASE_CLOSED

    def test_it_does_not_count_in_another_benchmarks_leakage(self, world: World) -> None:
        """Two benchmarks on the same hidden gold: only the published one counts for the other."""
        other = Benchmark.objects.create(
            slug="other", title="Other", summary="x", task=world.benchmark.task, dataset=world.split.dataset
        )
        beside = Phase.objects.create(benchmark=other, slug="test", title="Beside", split=world.split)
        world.submit(WRONG)
        score_all()
        assert [one.phase for one in leakage_budget.budget_of(beside).others] == []
        assert leakage_budget.budget_of(world.phase).own_bits > 0
        Benchmark.objects.filter(pk=world.benchmark.pk).update(state="public")
        assert [one.phase for one in leakage_budget.budget_of(beside).others] == [world.phase]

    def test_what_scores_depend_on_is_fixed_until_it_is_reset(self, world: World) -> None:
        world.submit()
        change = {"phase": world.phase, "changes": {"options": {"max_evidence": "none"}}, "reason": "Better."}
        change |= {"seen": edit_phase.version_of(world.phase), "by": world.curator}
        assert "Reset the draft first" in refusal(edit_phase.edit, **change).message
        other = gold_lines().replace(b"claim 0", b"claim 7")
        fields = {"split": world.split, "reason": "better", "by": world.curator}
        refused = refusal(splits.add_gold, file=uploaded(other, "gold.jsonl"), **fields)
        assert refused.code is Code.INPUTS_CHANGED and "Reset the draft first" in refused.message
        draft.reset(benchmark=world.benchmark, by=world.curator)
        assert edit_phase.edit(**change) == ["options"]
        assert splits.add_gold(file=uploaded(other, "gold.jsonl"), **fields).number == 2

    def test_an_upload_that_meets_publishing_is_refused(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """It was checked while the benchmark was a draft."""
        checked = runs.lock_split

        def published_first(phase: Phase) -> Split:
            monkeypatch.setattr(runs, "lock_split", checked)
            publish(world)
            return checked(phase)

        monkeypatch.setattr(runs, "lock_split", published_first)
        assert refusal(world.submit).code is Code.CHANGED_MEANWHILE
        assert not Submission.objects.exists()


class TestTesters:
    def test_names_are_of_accounts_and_teams(self, world: World) -> None:
        mate = person("mate")
        Membership.objects.create(team=world.system.team, user=mate)
        assert {user.username for user in draft.find_testers(["Analytical Engines"])} == {"ada", "mate"}
        refused = refusal(draft.find_testers, names=["ada", "nobody"])
        assert refused.code is Code.INVALID_VALUE and "nobody" in refused.message and "ada" not in refused.message

    def test_there_is_a_maximum(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(draft, "MOST_TESTERS", 1)
        assert "expected at most 1" in refusal(draft.find_testers, names=["ada", "curator"]).message

    @pytest.mark.parametrize("act", [draft.reset, lambda **named: draft.set_testers(testers=[], **named)])
    def test_only_organisers_change_a_draft_and_only_a_draft_changes(
        self, world: World, act: Callable[..., Any]
    ) -> None:
        assert refusal(act, benchmark=world.benchmark, by=world.researcher).code is Code.NOT_AN_ORGANISER
        Benchmark.objects.update(state="public")
        assert refusal(act, benchmark=world.benchmark, by=world.curator).code is Code.NOT_POSSIBLE


def rows_of_everything() -> dict[str, list[str]]:
    """Every row of every table but the audit trail, without times and without the number of its entries."""
    tables = {}
    for model in apps.get_models(include_auto_created=True):
        if model is AuditEntry:
            continue
        names = [
            field.attname
            for field in model._meta.concrete_fields
            if not isinstance(field, DateTimeField) and field.name != "n_entries"
        ]
        tables[model._meta.label] = sorted(map(repr, model._default_manager.values_list(*names)))
    return tables


def files() -> set[str]:
    folder = Path(settings.DATA) / "files"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


TRIED = (
    *(Submission, Prediction, Run, Release, Leaderboard, QuotaCharge, System, Final, Extension, Registration),
    *(RulesAgreement, NearDuplicate, Comparison, HeadToHead, Ranking, RankSnapshot, RankChange, PlotRendering),
    *(PlotPicture, HiddenSubmission, Disqualification, Representative, Placement, ImageUpload, Team, Membership),
)
"""Tables of which a full life must have used at least one row, or the comparison would prove nothing."""


def try_everything(world: World) -> None:
    """Use a draft in every way: files, an image, baselines, boards and all that hangs on them, decisions, requests."""
    at = timezone.now()
    phase, benchmark = world.phase, world.phase.benchmark
    sealed = Phase.objects.get(slug="sealed")
    registrations.agree(benchmark=benchmark, rules_sha256=benchmark.rules_sha256, by=world.researcher)
    registrations.request(benchmark=benchmark, team=world.system.team, message="", by=world.researcher)
    others = Team.objects.get(name="Others")
    bob = others.members.get()
    registrations.agree(benchmark=benchmark, rules_sha256=benchmark.rules_sha256, by=bob)
    world.submit(WRONG, system=teams.find_system(team=world.system.team, name="Tried"))
    first = world.submit()
    world.system = first.system
    world.submit(WRONG, system=System(team=others, name="Theirs"), by=bob)
    baselines.put(phase=phase, by=world.curator)
    for prediction in Prediction.objects.filter(file=""):
        baselines.WORK.run(prediction.pk)
    score_all()
    last = world.submit(phase=sealed)
    Final.objects.create(submission=last, phase=sealed, team=world.system.team, chosen_at=at)
    container_rows.insert(world)
    Phase.objects.filter(pk=sealed.pk).update(unsealed_at=at)
    board = Leaderboard.objects.get(phase=phase)
    other = Leaderboard.objects.create(phase=phase, gold_version=world.gold, task_version=9, state="frozen")
    a, b = sorted(run.pk for run in Run.objects.filter(state=State.DONE)[:2])
    pair = {"a_id": a, "b_id": b}
    Ranking.objects.get_or_create(leaderboard=board, defaults={"enqueued_at": at})
    Comparison.objects.create(
        leaderboard=board, measure="accuracy", n_permutations=9, n_groups=1, resamples=9, seed=1, **pair
    )
    HeadToHead.objects.create(leaderboard=board, queued_at=at, enqueued_at=at, **pair)
    PlotRendering.objects.create(leaderboard=board, revision=1, queued_at=at, enqueued_at=at)
    PlotPicture.objects.create(leaderboard=board, plot="intervals", digest="0" * 64, svg="", png=b"")
    RankSnapshot.objects.create(leaderboard=board, revision=1, rows={})
    RankChange.objects.create(leaderboard=board, replaced=other, system=world.system, measure="accuracy")
    one, two = Prediction.objects.filter(submission__phase=phase)[:2]
    NearDuplicate.objects.create(phase=phase, a=one, b=two, equal=1.0, n_units=4, n_errors=2, detected_at=at)
    HiddenSubmission.objects.create(submission=first, reason="Why.", hidden_by=world.curator, hidden_at=at)
    about = {"phase": phase, "system": world.system}
    Disqualification.objects.create(reason="Why.", created_by=world.curator, created_at=at, **about)
    Representative.objects.create(submission=first, chosen_by=world.researcher, chosen_at=at, **about)
    Extension.objects.create(
        phase=sealed, before=at, closes_at=at + timedelta(1), reason="x", created_by=world.curator, created_at=at
    )
    image = Submission.objects.get(kind="image")
    Placement.objects.create(
        prediction=image.predictions.get(),
        worker=WorkerReport.objects.get(),
        team=world.system.team,
        image=image.image,
        resources={},
        claimed_at=at,
    )
    ImageUpload.objects.create(phase=phase, by=world.researcher, name="image.tar", bytes=5)
    Notice.objects.create(user=world.researcher, submission=first, subject=first.pk, body={}, due_at=at, created_at=at)
    boards.rank(board)


def prepare(world: World) -> None:
    """What exists before the draft is used, besides `built`: settings of organisers, and another tester's team."""
    bob = person("bob")
    teams.create(name="Others", by=bob)
    System.objects.filter(pk=world.system.pk).delete()
    world.system = System(team=world.system.team, name="Bernoulli")
    Benchmark.objects.update(access="approval", rules="Be nice.", asks_agreement=True)
    closes_at = NEXT_YEAR + timedelta(days=9)
    fields = {"disclosure": "sealed", "sealed_until": closes_at, "closes_at": closes_at}
    Phase.objects.create(benchmark=world.benchmark, slug="sealed", title="Sealed", split=world.split, **fields)
    world.phase.benchmark.refresh_from_db()
    draft.set_testers(benchmark=world.benchmark, testers=[world.researcher, bob], by=world.curator)
    registrations.invite(benchmark=world.benchmark, team=Team.objects.get(name="Others"), by=world.curator)
    WorkerReport.objects.create(queue="systems", host="h", ready=True, seen_at=timezone.now())


@pytest.mark.usefixtures("sandbox")
class TestNothingRemains:
    def test_a_full_life_leaves_no_row_and_no_file(self, world: World, django_capture_on_commit_callbacks: Any) -> None:
        """Table by table as in a benchmark that was published at once."""
        prepare(world)
        empty, stored = rows_of_everything(), files()
        with rolled_back():
            publish(world)
            expected = rows_of_everything()
        try_everything(world)
        used = rows_of_everything()
        unused = [model._meta.label for model in TRIED if used[model._meta.label] == empty[model._meta.label]]
        assert not unused and files() > stored
        with rolled_back():
            n_submissions = Submission.objects.count()
            assert draft.reset(benchmark=world.benchmark, by=world.curator) == n_submissions > 5
            after_reset = rows_of_everything()
        with django_capture_on_commit_callbacks(execute=True):
            publish(world)
        published = rows_of_everything()
        assert {name: rows for name, rows in after_reset.items() if rows != empty[name]} == {}
        assert {name: rows for name, rows in published.items() if rows != expected[name]} == {}
        assert files() == stored
        connection.check_constraints()

    def test_the_phase_starts_anew(self, world: World) -> None:
        """Quota, team, sequence and board are as if nobody had tried."""
        Phase.objects.update(quota_per_day=1, opens_at=None)
        world.phase.refresh_from_db()
        world.submit(WRONG)
        score_all()
        assert refusal(world.submit).code is Code.QUOTA_EXCEEDED
        publish(world)
        assert not Benchmark.objects.get().testers.exists()
        world.phase = Phase.objects.get()
        assert quota_of(phase=world.phase, team=world.system.team).used_total == 0
        assert "Bernoulli" not in body(None, "/benchmarks/tiny/test/")
        other = teams.find_system(team=teams.create(name="Second", by=world.researcher), name="Euler")
        world.submit(system=other)
        score_all()
        assert (Prediction.objects.get().sequence, Release.objects.get().sequence) == (1, 1)
        assert "Euler" in body(None, "/benchmarks/tiny/test/")

    def test_a_shared_split_goes_on_counting(self, world: World) -> None:
        """Predictions of another benchmark on the split keep their numbers, and the next one gets a higher number."""
        Split.objects.update(state="published", published_at=timezone.now())
        world.split.refresh_from_db()
        other = Benchmark.objects.create(
            slug="other", title="Other", summary="x", task=world.benchmark.task, dataset=world.split.dataset
        )
        Benchmark.objects.filter(pk=other.pk).update(state="public")
        beside = Phase.objects.create(benchmark=other, slug="test", title="Beside", split=world.split)
        world.submit()
        kept = world.submit(phase=Phase.objects.get(pk=beside.pk))
        world.submit(WRONG)
        assert draft.reset(benchmark=world.benchmark, by=world.curator) == 2
        assert list(Submission.objects.all()) == [kept] and System.objects.get() == world.system
        assert Split.objects.get().last_sequence == kept.predictions.get().sequence == 2

    def test_a_worker_that_scores_meanwhile_stores_nothing(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        world.submit()
        scored = runs.publish

        def reset_first(*args: Any, **named: Any) -> None:
            draft.reset(benchmark=world.benchmark, by=world.curator)
            scored(*args, **named)

        monkeypatch.setattr(runs, "publish", reset_first)
        score_all()
        assert not Run.objects.exists() and not Release.objects.exists() and not Leaderboard.objects.exists()

    def test_it_is_in_the_audit_trail(self, world: World) -> None:
        world.submit()
        draft.reset(benchmark=world.benchmark, by=world.curator)
        acts = AuditEntry.objects.filter(subject=f"benchmark:{world.benchmark.pk}").order_by("pk")
        assert [entry.action for entry in acts][-1] == "draft.reset" and acts.last().detail == {"submissions": 1}
        world.submit()
        publish(world)
        assert acts.last().detail == {"submissions_deleted": 1}

    def test_a_draft_that_was_tried_is_not_exported(self, world: World, tmp_path: Path) -> None:
        world.submit()
        asked = {"benchmark": world.benchmark, "recipients": "", "by": world.curator}
        assert "reset it first" in refusal(exports.begin, **asked).message
        with pytest.raises(CommandError, match="reset it first"):
            call_command("export_benchmark", "tiny", tmp_path / "archive.zip")
        draft.reset(benchmark=world.benchmark, by=world.curator)
        assert exports.begin(**asked).benchmark == world.benchmark


class TestPage:
    WHERE = "/manage/benchmarks/tiny/draft/"

    def test_testers_are_named_and_the_draft_is_reset(self, world: World) -> None:
        client = browser_of(world.curator)
        page = client.get(self.WHERE).content.decode()
        assert ">ada</textarea>" in page.replace("\n", "") and "Nothing has been submitted yet" in page
        unknown = client.post(self.WHERE, {"testers": "nobody"})
        assert unknown.status_code == 422 and "has the name nobody" in unknown.content.decode()
        assert client.post(self.WHERE, {"testers": "curator\r\n\r\ncurator"}).status_code == 302
        assert [tester.username for tester in world.benchmark.testers.all()] == ["curator"]
        world.insert_run()
        unsure = client.post(f"{self.WHERE}reset/")
        assert (unsure.status_code, Submission.objects.count()) == (422, 1)
        assert client.post(f"{self.WHERE}reset/", {"sure": "on"}).status_code == 302
        assert not Submission.objects.exists()
        assert "1 submission deleted" in client.get(self.WHERE).content.decode()
