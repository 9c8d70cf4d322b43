"""What is sealed is absent from every address, file and tag until it is opened: nothing changes when it comes in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from leaderboard import jobs
from leaderboard.models import HeadToHead, Phase, System
from tests.support.api_calls import person
from tests.support.many_groups import a_phase, a_split, answers, labels_of, score_all, send, soon
from tests.support.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)
PAGES = ("", "by/kind/", "progress/", "significance/", "side-by-side/", "cite/", "embed/", "badge.svg?system=Bernoulli")
FILES = (
    "/",
    ".csv",
    ".tex",
    ".md",
    ".bib",
    ".json",
    "/comparisons/",
    "/plots/",
    "/drawings/",
    ".csv?slices=all",
    ".tex?slices=all",
)


def addresses(phase: Phase, system: System) -> list[str]:
    pages = [f"/benchmarks/tiny/{phase.slug}/{page}" for page in PAGES]
    files = [f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard{end}" for end in FILES]
    return [
        *pages,
        *files,
        "/",
        "/feed.atom",
        "/benchmarks/tiny/",
        "/benchmarks/tiny/feed.atom",
        f"/systems/{system.pk}/",
    ]


def told(where: list[str], client: Client | None = None) -> dict[str, tuple[Any, ...]]:
    """What each address answers: its tag, too, but for somebody who is logged in, whose pages hold changing tokens."""
    found = {}
    for address in where:
        answer = (client or Client()).get(address)
        assert answer.status_code < 500, address
        text = re.sub(rb'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": ?"\w+"', b"", answer.content)
        found[address] = (answer.status_code, text, client or answer.get("ETag"))
    return found


def test_a_sealed_submission_changes_no_address_for_others() -> None:
    world: World = build()
    phase = a_phase(world, a_split(world, LABELS), disclosure="sealed", sealed_until=soon())
    stranger = Client()
    stranger.force_login(person("grace"))
    where = addresses(phase, world.system)
    before = [told(where), told(where, stranger)]
    for wrong in (4, 0):
        send(world, phase, answers(LABELS, wrong))
        jobs.sweep()
    assert [told(where), told(where, stranger)] == before
    assert not HeadToHead.objects.exists()


def test_one_that_is_told_in_full_would_be_seen() -> None:
    world: World = build()
    phase = a_phase(world, a_split(world, LABELS), disclosure="full")
    where = addresses(phase, world.system)
    before = told(where)
    send(world, phase, answers(LABELS, 4))
    score_all()
    after = told(where)
    changed = {address for address in where if before[address] != after[address]}
    assert {f"/benchmarks/tiny/{phase.slug}/", "/feed.atom", where[-1]} <= changed and len(changed) > 15
