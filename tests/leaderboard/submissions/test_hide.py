"""Hiding a submission: what boards show, what its team, organisers and the public see, and how it is restored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.boards.queries import board_of, board_state, by_primary
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    HiddenSubmission,
    Leaderboard,
    Phase,
    QuotaCharge,
    Release,
    Standing,
    State,
    Submission,
    System,
    User,
)
from leaderboard.submissions.actions.hide import LONGEST_REASON, hide, unhide
from leaderboard.systems.actions import systems
from tests.support.api_calls import fixed_text, person
from tests.support.crawler import crawl
from tests.support.rows.board_rows import derive_past_standings, publish, score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
PHASE = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
EXPORTS = [
    f"{PHASE}/?slices=origin",
    *(f"{PHASE}.{suffix}" for suffix in ("csv", "tex", "md")),
    f"{PHASE}/?slice=origin:original",
    "/benchmarks/tiny/test/",
    "/benchmarks/tiny/test/by/origin/",
    "/benchmarks/tiny/test/progress/?download=csv",
    "/benchmarks/tiny/feed.atom",
]
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
REASON = "It was trained on leaked gold."


def built() -> World:
    tiny = build()
    tiny.benchmark.organisers.add(tiny.curator)
    return tiny


world, _django_db_helper = shared_states(world=built)


def enter(world: World, name: str, value: float, **more: Any) -> Release:
    return stand(world, name, [score("accuracy", value), score("accuracy", value / 2, origin="original")], **more)


def ranks() -> list[tuple[int | None, str, float | None]]:
    board = board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())
    return [(row.rank, row.system, row.score("accuracy").value) for row in by_primary(board)]


def hide_release(world: World, release: Release, by: Any = None) -> Submission:
    submission = Submission.objects.get(pk=release.submission_id)
    hide(submission=submission, reason=REASON, by=by or world.curator)
    return submission


def session_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def read(addresses: list[str]) -> dict[str, bytes]:
    answers = {address: Client().get(address) for address in addresses}
    assert {address: answer.status_code for address, answer in answers.items()} == dict.fromkeys(addresses, 200)
    return {address: answer.content for address, answer in answers.items()}


def is_as_of_today() -> bool:
    """Returns True if releases and decisions give the shown rows, computed as for boards as of a day."""
    today = Client().get(f"{PHASE}/", {"as_of": timezone.now().date().isoformat()}).json()["rows"]
    return sorted((row["rank"] or 0, row["system"], row["scores"][0]["value"]) for row in today) == sorted(
        (rank or 0, system, value) for rank, system, value in ranks()
    )


def test_the_system_gets_its_next_best_release_or_leaves_the_board(world: World) -> None:
    enter(world, "Engine", 0.25)
    best = enter(world, "Engine", 0.75)
    only = enter(world, "Loom", 0.5)
    charges, n_releases = set(QuotaCharge.objects.values_list("refunded_at")), Release.objects.count()
    hide_release(world, best)
    assert ranks() == [(1, "Loom", 0.5), (2, "Engine", 0.25)]
    hide_release(world, only)
    assert ranks() == [(1, "Engine", 0.25)]
    assert is_as_of_today()
    assert set(QuotaCharge.objects.values_list("refunded_at")) == charges and Release.objects.count() == n_releases


def test_hiding_an_unrepresentative_submission_changes_no_board(world: World) -> None:
    worse = enter(world, "Engine", 0.25)
    enter(world, "Engine", 0.75)
    before = Leaderboard.objects.get().revision
    hide_release(world, worse)
    assert ranks() == [(1, "Engine", 0.75)] and Leaderboard.objects.get().revision == before


def test_unhiding_restores_every_byte(world: World) -> None:
    enter(world, "Engine", 0.25)
    best = enter(world, "Engine", 0.75)
    only = enter(world, "Loom", 0.75)
    enter(world, "Mill", 0.5, team="Others")
    systems.disqualify(phase=world.phase, system=only.submission.system, reason="copied", by=world.curator)
    before, tag = read(EXPORTS), Client().get(EXPORTS[0])["ETag"]
    hidden = [hide_release(world, release) for release in (best, only)]
    between = read(EXPORTS)
    assert [address for address in EXPORTS if between[address] == before[address]] == []
    assert Client().get(EXPORTS[0])["ETag"] != tag
    for submission in hidden:
        unhide(submission=submission, by=world.curator)
    assert read(EXPORTS) == before
    assert is_as_of_today()


def test_the_public_sees_no_trace(world: World) -> None:
    enter(world, "Engine", 0.5)
    hidden = enter(world, "Vanishing", 0.987654)
    remaining = enter(world, "Engine", 0.976543)
    starts = ["/", "/benchmarks/tiny/", "/benchmarks/tiny/feed.atom", "/feed.atom", f"{PHASE}/", *EXPORTS]
    starts += [
        f"/benchmarks/tiny/test/{page}/"
        for page in ("progress", "cite", "embed", "head-to-head", "symmetric", "significance", "pairs")
    ]
    starts += [f"/systems/{release.submission.system_id}/" for release in (hidden, remaining)]
    ids = {str(hidden.submission_id), str(remaining.submission_id)}
    texts = {"Vanishing", "0.987", "0.976"}

    def found() -> set[str]:
        pages = list(crawl(Client(), starts))
        assert len(pages) > 30 and all(page.status < 500 for page in pages)
        shown = {text for page in pages for text in texts if text in fixed_text(page.text)}
        return shown | {pk for page in pages for pk in ids if pk.encode() in page.text}

    assert found() == texts | ids
    hide_release(world, hidden)
    hide_release(world, remaining)
    assert found() == set()
    assert Client().get(f"/systems/{hidden.submission.system_id}/").status_code == 404


def test_a_board_with_all_submissions_hidden_has_no_rows(world: World) -> None:
    hide_release(world, enter(world, "Engine", 0.5))
    assert ranks() == [] and is_as_of_today()
    assert b"Engine" not in b"".join(read([*EXPORTS, "/"]).values())


def test_an_unhidden_choice_of_the_team_represents_its_system_again(world: World) -> None:
    chosen = enter(world, "Engine", 0.25)
    enter(world, "Engine", 0.5)
    enter(world, "Engine", 0.75)
    systems.represent(submission=chosen.submission, by=world.researcher)
    submission = hide_release(world, chosen)
    assert ranks() == [(1, "Engine", 0.75)]
    with pytest.raises(Refused) as refused:
        systems.represent(submission=submission, by=world.researcher)
    assert refused.value.code is Code.NOT_POSSIBLE
    enter(world, "Engine", 0.9)
    assert ranks() == [(1, "Engine", 0.9)] and is_as_of_today()
    unhide(submission=submission, by=world.curator)
    assert ranks() == [(1, "Engine", 0.25)] and is_as_of_today()


def test_a_submission_hidden_while_queued_is_released_and_not_shown(world: World) -> None:
    run = world.insert_run(state=State.DONE, finished_at=FIRST, outcomes="o", outcomes_sha256="0" * 64)
    submission = run.prediction.submission
    hide(submission=submission, reason=REASON, by=world.curator)
    publish(run, scores=[score("accuracy", 0.9)], at=FIRST)
    assert submission.releases.count() == 1 and ranks() == []
    enter(world, world.system.name, 0.5)
    assert ranks() == [(1, world.system.name, 0.5)]
    unhide(submission=submission, by=world.curator)
    assert ranks() == [(1, world.system.name, 0.9)]


def test_scores_revealed_on_a_ladder_stay_revealed(world: World) -> None:
    """A system whose only release with a value is hidden has no rank, instead of its former one."""
    best = enter(world, "Engine", 0.75)
    stand(world, "Engine", [])
    board = Leaderboard.objects.get()
    shown = board_state.best_shown(board, "accuracy", team=None)
    hide_release(world, best)
    assert board_state.best_shown(board, "accuracy", team=None) == shown == 0.75
    assert ranks() == [(None, "Engine", None)]
    standing = Standing.objects.get()
    assert (standing.rank, standing.rank_low, standing.value) == (None, None, None)


@pytest.mark.parametrize("state", ["frozen", "preparing", "cancelled"])
def test_boards_of_every_state_omit_it(world: World, state: str) -> None:
    """A frozen board uses the decisions at the time when it was frozen."""
    chosen = enter(world, "Engine", 0.25)
    enter(world, "Engine", 0.75)
    enter(world, "Loom", 0.5)
    systems.represent(submission=chosen.submission, by=world.researcher)
    Leaderboard.objects.update(state=state, shown_from=FIRST)
    if state == "frozen":
        gold = world.gold
        gold.pk, gold.number, gold.sha256 = None, 2, "1" * 64
        gold.save(force_insert=True)
        later = {"shown_from": timezone.now(), "state": "current"}
        Leaderboard.objects.create(phase=world.phase, gold_version=gold, task_version=1, **later)
        systems.represent_by_best(phase=world.phase, system=chosen.submission.system, by=world.researcher)
    board = Leaderboard.objects.get(gold_version__number=1)
    rows = board.standings.order_by("rank").values_list("system__name", "value", "rank")
    before = list(rows.all())
    assert before == [("Loom", 0.5, 1), ("Engine", 0.25, 2)]
    submission = hide_release(world, chosen)
    assert list(rows.all()) == [("Engine", 0.75, 1), ("Loom", 0.5, 2)]
    unhide(submission=submission, by=world.curator)
    assert list(rows.all()) == before


def test_as_of_a_day_it_is_hidden_since_the_day_of_hiding(world: World) -> None:
    def told(day: int, **query: str) -> list[tuple[int | None, str]]:
        answer = Client().get(f"{PHASE}/", {"as_of": f"2026-03-{day:02}", **query}).json()
        return [(row["rank"], row["system"]) for row in answer["rows"]]

    only = enter(world, "Loom", 0.9, at=FIRST)
    enter(world, "Engine", 0.25, at=FIRST)
    best = enter(world, "Engine", 0.95, at=FIRST)
    enter(world, "Mill", 0.5, at=FIRST)
    Leaderboard.objects.update(shown_from=FIRST)
    hidden = [hide_release(world, release) for release in (only, best)]
    HiddenSubmission.objects.update(hidden_at=FIRST + timedelta(days=3))
    derive_past_standings()
    then, without = [(1, "Engine"), (2, "Loom"), (3, "Mill")], [(1, "Mill"), (2, "Engine")]
    assert (told(3), told(4), told(20)) == (then, without, without)
    for submission in hidden:
        unhide(submission=submission, by=world.curator)
    HiddenSubmission.objects.update(unhidden_at=FIRST + timedelta(days=5))
    derive_past_standings()
    assert (told(3), told(4), told(5), told(6), told(20)) == (then, without, without, then, then)
    Leaderboard.objects.update(state="frozen")
    gold = {"gold_version": "1", "task_version": "1"}
    assert (told(3, **gold), told(4, **gold), told(6, **gold)) == (then, without, then)


def test_only_organisers_hide(world: World) -> None:
    submission = enter(world, "Engine", 0.5).submission
    for user in (world.researcher, person("bob")):
        with pytest.raises(Refused) as refused:
            hide(submission=submission, reason=REASON, by=user)
        assert refused.value.code is Code.NOT_AN_ORGANISER
    hide(submission=submission, reason=REASON, by=world.curator)
    with pytest.raises(Refused) as refused:
        unhide(submission=submission, by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER and ranks() == []


@pytest.mark.parametrize("reason", ["", " \n", "x" * (LONGEST_REASON + 1)])
def test_a_reason_is_required_and_bounded(world: World, reason: str) -> None:
    submission = enter(world, "Engine", 0.5).submission
    with pytest.raises(Refused) as refused:
        hide(submission=submission, reason=reason, by=world.curator)
    assert refused.value.code is Code.INVALID_REASON and len(ranks()) == 1


def test_each_action_is_audited_and_a_new_reason_keeps_the_date(world: World) -> None:
    submission = hide_release(world, enter(world, "Engine", 0.5))
    since = HiddenSubmission.objects.get().hidden_at
    hide(submission=submission, reason="Another\nreason", by=world.curator)
    row = HiddenSubmission.objects.get()
    assert (row.reason, row.hidden_at, row.hidden_by) == ("Another reason", since, world.curator)
    for _ in range(2):
        unhide(submission=submission, by=world.curator)
    hide(submission=submission, reason=REASON, by=world.curator)
    assert HiddenSubmission.objects.count() == 2 and HiddenSubmission.objects.now().get().reason == REASON
    acts = AuditEntry.objects.filter(subject=f"submission:{submission.pk}").order_by("pk")
    assert [(act.action, act.actor, act.detail.get("reason")) for act in acts] == [
        ("submission.hidden", world.curator, REASON),
        ("submission.hidden", world.curator, "Another reason"),
        ("submission.unhidden", world.curator, None),
        ("submission.hidden", world.curator, REASON),
    ]
    page = session_of(world.curator).get("/manage/benchmarks/tiny/audit-trail/").content.decode()
    assert "hid a submission" in page and "unhid a submission" in page and "submission.hidden" not in page
    fields = {"submission": submission, "reason": "x", "hidden_by": world.curator, "hidden_at": timezone.now()}
    with pytest.raises(IntegrityError), transaction.atomic():
        HiddenSubmission.objects.create(**fields)


def test_its_team_sees_the_reason_and_keeps_scores_and_receipt(world: World) -> None:
    release = enter(world, "Engine", 0.5)
    client = session_of(world.researcher)
    page = release.submission.get_absolute_url()
    private = [f"/api/v1/submissions/{release.submission_id}/{part}" for part in ("", "scores/")]
    before = [client.get(address).json() for address in private]
    assert "Hidden from the boards" not in client.get(page).content.decode()
    hide_release(world, release)
    text = client.get(page).content.decode()
    since = HiddenSubmission.objects.get().hidden_at
    for part in ("Hidden from the boards", REASON, f"{since:%Y-%m-%d %H:%M} UTC", "0.500"):
        assert part in text, part
    assert "/hide/" not in text, "the team cannot hide"
    assert before[0].pop("result")["rank"] == before[0].pop("rank") == 1
    after = [client.get(address).json() for address in private]
    assert after[0].pop("result") is after[0].pop("rank") is None, "it has no rank while it is hidden"
    assert (before[0].pop("hidden_by"), after[0].pop("hidden_by")) == ("", "organisers")
    assert after == before
    for address in ("/me/submissions/", f"/systems/{release.submission.system_id}/"):
        answer = client.get(address)
        assert answer.status_code == 200 and "hidden" in answer.content.decode()
    assert Client().get(page).status_code == 302
    assert session_of(person("bob")).get(page).status_code == 404


def test_organisers_hide_and_unhide_on_pages(world: World) -> None:
    release = enter(world, "Engine", 0.5)
    organiser = person("xena")
    world.benchmark.organisers.add(organiser)
    client = session_of(organiser)
    url = f"/manage/benchmarks/tiny/submissions/{release.submission_id}/hide/"
    assert url in client.get(release.submission.get_absolute_url()).content.decode()
    assert url in client.get(f"/systems/{release.submission.system_id}/").content.decode()
    assert "expected" not in client.get(url).content.decode()
    assert client.post(url, {"reason": ""}).status_code == 422 and len(ranks()) == 1
    answer = client.post(url, {"reason": "<b>leaked</b>"}, follow=True)
    assert "&lt;b&gt;leaked" in answer.content.decode() and ranks() == []
    assert "&lt;b&gt;leaked" in client.get(url).content.decode()
    manage = client.get("/manage/benchmarks/tiny/").content.decode()
    assert "/manage/benchmarks/tiny/hidden/" in manage
    listed = client.get("/manage/benchmarks/tiny/hidden/").content.decode()
    assert "&lt;b&gt;leaked" in listed and url.replace("hide/", "unhide/") in listed and "xena" in listed
    for message in ("The submission is shown again.", "The submission was not hidden."):
        assert message in client.post(url.replace("hide/", "unhide/"), follow=True).content.decode()
    assert len(ranks()) == 1
    assert "Show again" not in client.get("/manage/benchmarks/tiny/hidden/").content.decode()
    assert System.objects.get(name="Engine").standings.count() == 1
