"""A sealed submission changes no address, file or ETag before the opening."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from leaderboard.models import HeadToHead, Phase, System
from tests.support.api_calls import person
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send, soon
from tests.support.rows.tiny_world import World, build
from tests.support.workers import sweeps

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)
PAGES = ("", "by/kind/", "progress/", "significance/", "head-to-head/", "cite/", "embed/", "badge.svg?system=Bernoulli")
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


def responses(urls: list[str], client: Client | None = None) -> dict[str, tuple[Any, ...]]:
    """Returns each response with its ETag; without it for a logged-in user, whose pages contain changing tokens."""
    by_address = {}
    for address in urls:
        answer = (client or Client()).get(address)
        assert answer.status_code < 500, address
        text = re.sub(rb'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": ?"\w+"', b"", answer.content)
        text = re.sub(rb"#[0-9a-f]{32}", b"", text)  # the request's id in an error of the API
        by_address[address] = (answer.status_code, text, client or answer.get("ETag"))
    return by_address


def test_a_sealed_submission_changes_no_address_for_others() -> None:
    world: World = build()
    phase = a_phase(world, a_split(world, LABELS), disclosure="sealed", sealed_until=soon())
    stranger = Client()
    stranger.force_login(person("grace"))
    urls = addresses(phase, world.system)
    before = [responses(urls), responses(urls, stranger)]
    for wrong in (4, 0):
        send(world, phase, answers(LABELS, wrong))
        sweeps.sweep()
    assert [responses(urls), responses(urls, stranger)] == before
    assert not HeadToHead.objects.exists()


def test_a_fully_revealed_submission_changes_addresses() -> None:
    world: World = build()
    phase = a_phase(world, a_split(world, LABELS), disclosure="full")
    urls = addresses(phase, world.system)
    before = responses(urls)
    send(world, phase, answers(LABELS, 4))
    score_all()
    after = responses(urls)
    changed = {address for address in urls if before[address] != after[address]}
    assert {f"/benchmarks/tiny/{phase.slug}/", "/feed.atom", urls[-1]} <= changed and len(changed) > 15
