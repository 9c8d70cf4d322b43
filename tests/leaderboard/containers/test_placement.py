"""Which container a host starts next: turns of teams and room on hosts; without an engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.containers.actions import placement, run_system, workers
from leaderboard.evaluation.container_limits import Resources
from leaderboard.models import Phase, Placement, Prediction, Reason, State, System, Team, WorkerReport
from leaderboard.submissions.queries import progress
from leaderboard.work_queue import chosen_work, enqueue
from leaderboard.work_queue.lease import Lease
from tests.support.rows import container_rows, tiny_world
from tests.support.rows.tiny_world import World
from tests.support.simultaneous_calls import together

pytestmark = pytest.mark.django_db(transaction=True)

GB = 10**9
LONG_AGO = timedelta(hours=1)
Claim = Callable[..., Lease[Prediction] | None]


@pytest.fixture
def world() -> World:
    world = tiny_world.build()
    container_rows.takes_images(world, limits={"cpus": 1, "memory_bytes": GB})
    return world


@pytest.fixture
def claim(monkeypatch: pytest.MonkeyPatch) -> Claim:
    """Claim what a host takes next, as a worker does that received any message."""

    def claim(host: str = "one") -> Lease[Prediction] | None:
        monkeypatch.setattr("socket.gethostname", lambda: host)
        return run_system.WORK.claim(Prediction.objects.order_by("pk").values_list("pk", flat=True)[0])

    return claim


def host(name: str = "one", **changes: Any) -> WorkerReport:
    fields = {"cpus": 100, "memory_bytes": 100 * GB, "ready": True, "seen_at": timezone.now()}
    return WorkerReport.objects.create(**{"queue": "systems", "host": name, **fields, **changes})


def of_team(world: World, name: str) -> World:
    team = Team.objects.create(name=name)
    return replace(world, system=System.objects.create(team=team, name=f"System of {name}"))


def of_phase(world: World, slug: str, **limits: Any) -> World:
    phase = Phase.objects.get(pk=world.phase.pk)
    phase.pk, phase.slug, phase.title, phase.limits = None, slug, slug, limits
    phase.save()
    return replace(world, phase=phase)


def waits(world: World, *, ago: timedelta = LONG_AGO, **changes: Any) -> Prediction:
    """Insert a waiting container; rows that are inserted later were queued later."""
    later = timedelta(milliseconds=Prediction.objects.count())
    return container_rows.insert(world, queued_at=timezone.now() - ago + later, **changes)


def end(lease: Lease[Prediction] | None) -> None:
    assert lease is not None
    lease.finish(state=State.REJECTED, reason=Reason.SYSTEM_EXIT)


def taken(claim: Claim, number: int, host: str = "one") -> list[Any]:
    """Return the keys of the containers that a host runs one after the other."""
    keys = []
    for _ in range(number):
        lease = claim(host)
        end(lease)
        assert lease is not None
        keys.append(lease.row.pk)
    return keys


# --- turns


def test_fifty_runs_of_one_team_delay_anothers_by_at_most_one(world: World, claim: Claim) -> None:
    host()
    a = of_team(world, "A")
    for _ in range(50):
        waits(a)
    assert len(taken(claim, 3)) == 3
    only = waits(of_team(world, "B"))
    assert only.pk in taken(claim, 2)


def test_teams_take_turns_and_each_is_served_in_order(world: World, claim: Claim) -> None:
    host()
    a, b, c = (of_team(world, name) for name in "ABC")
    first, second, third = waits(a), waits(a), waits(a)
    other, last = waits(b), waits(c)
    assert taken(claim, 5) == [row.pk for row in (first, other, last, second, third)]


def test_the_row_of_a_dead_worker_goes_to_the_front(world: World, claim: Claim) -> None:
    host()
    a, b = of_team(world, "A"), of_team(world, "B")
    lost, next_of_a = waits(a), waits(a)
    lease = claim()
    assert lease is not None and lease.row.pk == lost.pk
    others = [waits(b), waits(b)]
    Prediction.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    run_system.WORK.sweep()
    assert taken(claim, 4) == [row.pk for row in (lost, others[0], next_of_a, others[1])]


def test_the_queue_position_counts_turns(world: World) -> None:
    other = of_team(world, "A")
    for _ in range(5):
        waits(other)
    submissions = [waits(world).submission, waits(world).submission]
    assert [progress.of(submission).queue_position for submission in submissions] == [1, 3]


# --- room


@pytest.mark.parametrize(
    ("demand", "fits"),
    [
        (Resources(cpus=2, memory_bytes=4), True),
        (Resources(cpus=2.1, memory_bytes=4), False),
        (Resources(cpus=2, memory_bytes=5), False),
        (Resources(gpus=1, gpu_memory_gb=40), True),
        (Resources(gpus=2), False),
        (Resources(gpus=1, gpu_memory_gb=41), False),
    ],
)
def test_resources_fit_if_each_does(demand: Resources, fits: bool) -> None:
    offer = Resources(cpus=3, memory_bytes=6, gpus=2, gpu_memory_gb=40)
    room = offer.without([Resources(cpus=0.7, memory_bytes=1), Resources(cpus=0.3, memory_bytes=1, gpus=1)])
    assert demand.fits(room) == fits


def test_a_host_runs_as_many_as_it_has_room_for(world: World, claim: Claim) -> None:
    host(cpus=3, memory_bytes=100 * GB)
    for _ in range(5):
        waits(world)
    leases = [claim() for _ in range(5)]
    assert [lease is not None for lease in leases] == [True, True, True, False, False]
    end(leases[1])
    assert claim() is not None and claim() is None


def test_a_changed_limit_does_not_change_what_is_taken(world: World, claim: Claim) -> None:
    host(cpus=2)
    for _ in range(3):
        waits(world)
    assert claim() is not None
    Phase.objects.update(limits={"cpus": 0.1, "memory_bytes": GB})
    assert Placement.objects.get().resources["cpus"] == 1
    assert claim() is not None and Placement.objects.count() == 2


def test_processes_that_claim_at_the_same_time_take_no_more_than_there_is(world: World, claim: Claim) -> None:
    host(cpus=3)
    for _ in range(8):
        waits(world)
    key = Prediction.objects.order_by("pk").values_list("pk", flat=True)[0]
    end(claim())
    leases = [lease for lease in together([lambda: run_system.WORK.claim(key)] * 8) if lease is not None]
    assert len({lease.row.pk for lease in leases}) == len(leases) == 3
    assert placement.running_on("one").count() == 3


def test_hosts_that_claim_at_the_same_time_take_different_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names = threading.local()
    monkeypatch.setattr("socket.gethostname", lambda: names.host)
    for name in "abcd":
        host(name, cpus=2)
    rows = [waits(world) for _ in range(8)]

    def claim_on(name: str) -> list[Lease[Prediction] | None]:
        names.host = name
        return [run_system.WORK.claim(rows[0].pk) for _ in range(2)]

    leases = [lease for pair in together([lambda name=name: claim_on(name) for name in "abcd"]) for lease in pair]
    keys = [lease.row.pk for lease in leases if lease is not None]
    assert len(set(keys)) == len(keys) and len(keys) >= 4
    for name in "abcd":
        assert placement.running_on(name).count() <= 2


def test_a_large_run_is_not_overtaken(world: World, claim: Claim) -> None:
    host(cpus=4)
    waits(world)
    lease = claim()
    large = waits(of_phase(of_team(world, "L"), "large", cpus=4, memory_bytes=GB))
    waits(of_team(world, "S"))
    assert claim() is None, "the host keeps its room"
    end(lease)
    lease = claim()
    assert lease is not None and lease.row.pk == large.pk


def test_what_no_host_offers_runs_alone(world: World, claim: Claim) -> None:
    host(cpus=2)
    large = waits(of_phase(world, "large", cpus=3, memory_bytes=GB))
    small = waits(of_team(world, "B"), ago=timedelta(minutes=1))
    lease = claim()
    assert lease is not None and lease.row.pk == large.pk
    assert claim() is None
    end(lease)
    lease = claim()
    assert lease is not None and lease.row.pk == small.pk


def test_what_another_host_offers_waits_for_it(world: World, claim: Claim) -> None:
    host(cpus=2)
    away = host("large", cpus=3, ready=False, seen_at=timezone.now() - timedelta(minutes=5))
    waits(of_phase(world, "large", cpus=3, memory_bytes=GB), ago=LONG_AGO)
    small = waits(world)
    lease = claim()
    assert lease is not None and lease.row.pk == small.pk and claim() is None
    end(lease)
    away.delete()
    assert claim() is not None


def test_a_host_without_gpus_takes_none_that_need_one(
    world: World, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    host()
    waits(world)
    demand = Resources(cpus=1, gpus=1)
    monkeypatch.setattr(placement, "_demands", lambda waiting, queue: {world.phase.pk: demand})
    assert claim() is None and not placement.is_servable("systems")


# --- messages


def test_a_message_wakes_a_worker_for_any_row(world: World, claim: Claim) -> None:
    host()
    ended, row = waits(world, state=State.REJECTED), waits(world)
    claim()
    assert [each.prediction_id for each in placement.running_on("one")] == [row.pk]
    assert run_system.WORK.claim(ended.pk) is None, "nothing waits"


@pytest.mark.parametrize(
    ("hosts", "sent"),
    [
        ({"one": {"cpus": 0.5}, "two": {}}, 1),
        ({"one": {"draining": True}, "two": {}}, 1),
        ({"one": {"draining": True}}, 0),
        ({"one": {"draining": True}, "two": {"ready": False}}, 0),
    ],
)
def test_a_message_that_another_host_may_need_is_passed_on(
    world: World, monkeypatch: pytest.MonkeyPatch, sandbox: str, hosts: dict[str, dict[str, Any]], sent: int
) -> None:
    messages: list[tuple[str, ...]] = []
    monkeypatch.setattr(enqueue, "_send", lambda *message: messages.append(message))
    monkeypatch.setattr(chosen_work, "PASS_ON_SECONDS", 0)
    monkeypatch.setattr(workers, "ready", lambda: True)
    monkeypatch.setattr("socket.gethostname", lambda: "one")
    for name, changes in hosts.items():
        host(name, **changes)
    row = waits(world)
    run_system.WORK.run(row.pk)
    assert messages == [("leaderboard.jobs.predict", str(row.pk), "systems")] * sent
    Prediction.objects.update(state=State.CANCELLED, finished_at=timezone.now())
    run_system.WORK.run(row.pk)
    assert len(messages) == sent, "nothing waits"
