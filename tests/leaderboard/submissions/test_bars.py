"""A barred team and its people cannot submit, whatever the benchmark's access and the way to submit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import membership, teams
from leaderboard.containers.actions import image_uploads, images
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    Bar,
    Benchmark,
    Final,
    ImageUpload,
    Phase,
    Registration,
    Submission,
    WorkerReport,
)
from leaderboard.scoring.actions import sealed_phases
from leaderboard.submissions.actions import registrations
from leaderboard.systems.actions import rename
from tests.support.api_calls import client_of, error_of, footprint, person, send
from tests.support.rows.tiny_world import World, build, prediction_lines

pytestmark = pytest.mark.django_db
REFERENCE = "registry.example/negation@sha256:" + "a" * 64
PAGE = "/manage/benchmarks/tiny/participants/"


@pytest.fixture
def world(db: None, sandbox: str, settings: Any) -> World:
    settings.REGISTRIES = ["registry.example"]
    world = build()
    Phase.objects.update(takes_images=True)
    world.phase.refresh_from_db()
    WorkerReport.objects.create(queue="systems", host="there", ready=True, seen_at=timezone.now())
    return world


def bar(world: World) -> Bar:
    return registrations.bar(benchmark=world.benchmark, team=world.system.team, by=world.curator)


def ways(world: World) -> dict[str, Callable[[], Any]]:
    """Return every way to submit: each raises Refused, or returns the response."""
    by = {"phase": world.phase, "by": world.researcher}
    upload = image_uploads.begin(**by, name="image.tar", size=5)
    image_uploads.add(upload=upload, offset=0, chunk=b"image")
    page = Client()
    page.force_login(world.researcher)

    def form() -> Any:
        file = SimpleUploadedFile("p.jsonl", prediction_lines())
        return page.post("/benchmarks/tiny/test/submit/", {"system": world.system.pk, "note": "", "file": file})

    def check() -> Any:
        file = SimpleUploadedFile("p.jsonl", prediction_lines())
        return page.post("/benchmarks/tiny/test/submit/", {"check": "1", "file": file})

    def another_team() -> Any:
        other = teams.create(name="Another", by=world.researcher)
        return world.submit(system=teams.find_system(team=other, name="Again"))

    return {
        "page": form,
        "check": check,
        "API with a token": lambda: send(client_of(world.researcher), prediction_lines()),
        "image of an upload": lambda: image_uploads.finish(upload=upload, entry=world.entry()),
        "image in a registry": lambda: images.submit_reference(
            phase=world.phase, entry=world.entry(), reference=REFERENCE
        ),
        "begin of an upload": lambda: image_uploads.begin(**by, name="image.tar", size=5),
        "another team of the person": another_team,
        "registration": lambda: registrations.request(
            benchmark=world.benchmark, team=world.system.team, message="", by=world.researcher
        ),
    }


@pytest.mark.parametrize("access", Benchmark.Access.values)
def test_no_way_to_submit_is_left(world: World, access: str) -> None:
    registrations.set_access(benchmark=world.benchmark, access=access, asks_agreement=False, by=world.curator)
    Benchmark.objects.filter(state=Benchmark.State.PRIVATE).update(access=access)
    if access != Benchmark.Access.OPEN:
        registrations.invite(benchmark=world.benchmark, team=world.system.team, by=world.curator)
    world.phase = Phase.objects.get()
    acts = ways(world)
    row = bar(world)
    rename.rename_team(team=world.system.team, name="Renamed", by=world.researcher)
    before = footprint()
    for name, act in acts.items():
        try:
            answer = act()
        except Refused as refused:
            assert refused.code is Code.BARRED, (name, refused)
        else:
            is_hidden = access == Benchmark.Access.INVITED and answer.status_code == 404
            assert is_hidden or answer.status_code == 403, (name, answer.status_code, answer.content)
    assert footprint() == before
    registrations.lift(bar=Bar.objects.get(pk=row.pk), by=world.curator)
    assert world.submit().phase == world.phase
    assert [entry.action for entry in AuditEntry.objects.filter(action__contains="bar")] == [
        "registration.bar_lifted",
        "registration.barred",
    ]


def test_a_person_who_leaves_the_team_stays_barred_and_a_new_member_is_not(world: World) -> None:
    owner, mate = world.researcher, person("mate")
    world.system.team.members.add(mate, through_defaults={"is_owner": True})
    bar(world)
    membership.leave(team=world.system.team, by=owner)
    with pytest.raises(Refused) as refused:
        world.submit(system=teams.find_system(team=teams.create(name="Fresh", by=owner), name="Fresh"))
    assert refused.value.code is Code.BARRED
    late = person("late")
    world.system.team.members.add(late)
    with pytest.raises(Refused) as refused:
        world.submit(by=late)
    assert refused.value.code is Code.BARRED
    own = teams.find_system(team=teams.create(name="Late", by=late), name="Late")
    assert world.submit(system=own, by=late).submitted_by == late


def test_a_deleted_team_leaves_its_people_barred(world: World) -> None:
    team = teams.create(name="Short", by=world.researcher)
    row = registrations.bar(benchmark=world.benchmark, team=team, by=world.curator)
    team.delete()
    row.refresh_from_db()
    assert (row.team, row.team_name) == (None, "Short")
    with pytest.raises(Refused) as refused:
        world.submit()
    assert refused.value.code is Code.BARRED


def test_a_barred_team_chooses_no_finals_and_keeps_what_it_sent(world: World) -> None:
    at = timezone.now()
    Phase.objects.update(disclosure="sealed", closes_at=at + timedelta(days=1), sealed_until=at + timedelta(days=2))
    world.phase = Phase.objects.get()
    first, second = world.submit(), world.submit({"a1": "REFUTES", "a2": "REFUTES", "a3": "REFUTES", "a4": "REFUTES"})
    sealed_phases.choose(submission=first, by=world.researcher)
    sealed_phases.unchoose(submission=first, by=world.researcher)
    bar(world)
    with pytest.raises(Refused) as refused:
        sealed_phases.choose(submission=second, by=world.researcher)
    assert (refused.value.code, Final.objects.count()) == (Code.BARRED, 0)
    assert list(sealed_phases.default_finals(world.phase)) == [second]
    assert Submission.objects.visible_to(world.researcher).count() == 2


def test_managers_are_never_barred_with_a_team(world: World) -> None:
    world.benchmark.organisers.add(world.researcher)
    assert list(bar(world).people.all()) == []


def test_a_barred_team_is_not_registered_by_a_change_of_access(world: World) -> None:
    world.submit()
    bar(world)
    registrations.set_access(
        benchmark=world.benchmark, access=Benchmark.Access.APPROVAL, asks_agreement=False, by=world.curator
    )
    assert not Registration.objects.exists()
    with pytest.raises(Refused) as refused:
        registrations.invite(benchmark=world.benchmark, team=world.system.team, by=world.curator)
    assert refused.value.code is Code.BARRED


def test_the_page_removes_and_lets_in_again(world: World) -> None:
    registrations.invite(benchmark=world.benchmark, team=world.system.team, by=world.curator)
    organiser = Client()
    organiser.force_login(world.curator)
    page = organiser.get(PAGE).content.decode()
    assert "Remove" in page and "Bar team" in page
    removed = organiser.post(f"{PAGE}bar/", {"team": world.system.team.name}, follow=True).content.decode()
    row = Bar.objects.get()
    assert world.researcher.username in removed and "Let submit again" in removed
    ada = client_of(world.researcher)
    assert error_of(send(ada, prediction_lines()))["code"] == "barred"
    told = Client()
    told.force_login(world.researcher)
    assert "The organisers have removed your team" in told.get("/join/tiny/").content.decode()
    refused = organiser.post(f"{PAGE}{Registration.objects.get().pk}/decide/", {"decision": "approve"})
    assert refused.status_code == 403 and "is barred from" in refused.content.decode()
    organiser.post(f"{PAGE}bars/{row.pk}/lift/")
    assert send(ada, prediction_lines()).status_code == 201 and ImageUpload.objects.count() == 0
