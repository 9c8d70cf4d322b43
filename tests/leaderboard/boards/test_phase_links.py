"""Links between the phases of a benchmark, on each page of a board."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.models import Phase, Submission
from tests.support.rows.board_rows import publish, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    new_world = build()
    stand(new_world, "First")
    return new_world


def further_phase(world: World, slug: str) -> Phase:
    fields = {"slug": slug, "title": f"Phase {slug}", "options": {}, "opens_at": None, "closes_at": None}
    phase = Phase(benchmark=world.benchmark, split=world.split, quota_per_day=5, quota_total=5, **fields)
    return benchmarks.add_phase(phase=phase, by=world.curator)


def links(client: Client, address: str) -> list[tuple[str, str]]:
    html = client.get(address).content.decode()
    nav = re.search(r'<nav class="pills phases".*?</nav>', html, re.DOTALL)
    return re.findall(r'href="([^"]+)"( aria-current="true")?', nav[0]) if nav else []


def test_a_single_phase_has_no_links(world: World, client: Client) -> None:
    assert links(client, "/benchmarks/tiny/test/") == []


def test_each_page_leads_to_the_same_page_of_a_phase_that_has_it(world: World, client: Client) -> None:
    empty, scored = further_phase(world, "empty"), further_phase(world, "scored")
    scores = world.insert_run(
        state="done", finished_at=world.phase.created_at, attempt=1, outcomes="o", outcomes_sha256="0" * 64
    )
    Submission.objects.filter(pk=scores.prediction.submission_id).update(phase=scored)
    scores.prediction.submission.phase = scored
    publish(scores, scores=[])
    here = ("/benchmarks/tiny/test/", ' aria-current="true"')
    assert links(client, here[0]) == [here, (f"/benchmarks/tiny/{empty.slug}/", ""), ("/benchmarks/tiny/scored/", "")]
    by_origin = "/benchmarks/tiny/{}/by/origin/".format
    assert links(client, by_origin("test")) == [
        (by_origin("test"), ' aria-current="true"'),
        ("/benchmarks/tiny/empty/", ""),
        (by_origin("scored"), ""),
    ]
    for view in ("progress", "head-to-head", "significance"):
        assert [url for url, _ in links(client, f"/benchmarks/tiny/test/{view}/")] == [
            f"/benchmarks/tiny/{slug}/{view}/" for slug in ("test", "empty", "scored")
        ]
    for view in ("", "by/origin/", "progress/", "head-to-head/", "significance/", "symmetric/"):
        for url, _ in links(client, f"/benchmarks/tiny/test/{view}"):
            assert client.get(url).status_code == 200, url


def test_a_renamed_phase_renews_the_pages_of_the_others(world: World, client: Client) -> None:
    other = further_phase(world, "other")
    before = client.get("/benchmarks/tiny/test/")["ETag"]
    other.title = "Renamed"
    other.save()
    response = client.get("/benchmarks/tiny/test/", headers={"If-None-Match": before})
    assert response.status_code == 200 and "Renamed" in response.content.decode()
