"""A system's page for everybody, its team and the organisers, and the actions on it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Leaderboard, Phase, Standing, System
from tests.support.api_calls import fixed_text, person
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=build)


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, world: World, **query):
    return client.get(f"/systems/{world.system.pk}/", query)


def text(response) -> str:
    return response.content.decode()


def runs(response) -> list[float]:
    return [run.score.value for run, _, _ in response.context["runs"]]


def accuracy(value: float):
    return [score("accuracy", value), score("accuracy", value, 1, origin="original")]


def test_the_page_shows_description_rank_and_every_slice(world):
    stand(
        world,
        "Bernoulli",
        description="Steam & <b>wheels</b>",
        paper_url="https://papers.example/steam",
        bibtex="@misc{steam, title={Steam}}",
    )
    page_text = text(page(Client(), world))
    assert "Steam &amp; &lt;b&gt;wheels" in page_text
    for part in ("https://papers.example/steam", "@misc{steam", "Analytical Engines", ">Symmetric gap<", "By origin"):
        assert part in page_text.replace('<span dir="auto">', "").replace("</span>", ""), part
    board = Leaderboard.objects.get()
    assert f'href="/systems/{world.system.pk}/?board={board.pk}"' in text(Client().get("/benchmarks/tiny/test/"))


@pytest.mark.parametrize("state", [Leaderboard.State.PREPARING, Leaderboard.State.CANCELLED])
def test_a_board_that_was_never_shown_is_not_mentioned(world, state):
    stand(world, "Bernoulli", accuracy(0.9))
    Leaderboard.objects.update(state=state)
    assert page(Client(), world).status_code == 404


def test_a_drafts_board_is_visible_to_those_who_see_the_draft(world):
    stand(world, "Bernoulli", accuracy(0.9))
    type(world.benchmark).objects.update(state="draft")
    assert page(Client(), world).status_code == 404
    assert page(as_(world.curator), world).status_code == 200


def test_others_see_the_runs_on_the_board_and_the_team_sees_all(world):
    at = timezone.now() - timedelta(days=3)
    for hours, value in enumerate((0.5, 0.33, 0.8, 0.7)):
        stand(world, "Bernoulli", accuracy(value), at=at + timedelta(hours=hours))
    assert runs(page(Client(), world)) == [0.5, 0.8]
    assert "0.330" not in fixed_text(text(page(Client(), world)))
    for viewer in (world.researcher, world.curator):
        assert runs(page(as_(viewer), world)) == [0.5, 0.33, 0.8, 0.7]


def test_a_ladder_shows_only_the_scores_that_it_revealed(world):
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    # Four claims in one group: the step is 1, which only 1.0 reaches.
    for value in (0.9, 1.0):
        stand(world, "Bernoulli", [score("accuracy", value)])
    response = page(as_(world.researcher), world)
    assert 0.9 not in runs(response)
    assert "0.900" not in fixed_text(text(response))
    assert "interval</strong>" not in text(response)


def test_the_receipt_names_the_versions_and_no_file(world):
    release = stand(world, "Bernoulli", accuracy(0.9))
    run = release.run
    type(run).objects.update(
        provenance={
            "task": "fact-verification",
            "options": {"max_evidence": "5"},
            "code_sha256": "c" * 64,
            "gold_sha256": "d" * 64,
            "predictions_sha256": "e" * 64,
            "seed": 0,
            "resamples": 1000,
            "packages": {"numpy": "2.4"},
        }
    )
    page_text = text(page(Client(), world))
    assert "c" * 64 in page_text and "max_evidence=5" in page_text
    assert "d" * 64 not in page_text and "e" * 64 not in page_text


def test_a_team_chooses_on_the_page(world):
    at = timezone.now() - timedelta(days=3)
    worse = stand(world, "Bernoulli", accuracy(0.4), at=at)
    stand(world, "Bernoulli", accuracy(0.9), at=at + timedelta(hours=1))
    url = f"/submissions/{worse.submission_id}/represent/"
    assert url in text(page(as_(world.researcher), world))
    assert url not in text(page(as_(world.curator), world))
    assert as_(person("bob")).post(url).status_code == 404
    assert Standing.objects.get().value == 0.9
    as_(world.researcher).post(url)
    assert Standing.objects.get().value == 0.4
    assert "The team chose which submission is on the board" in text(page(Client(), world))
    as_(world.researcher).post(f"/benchmarks/tiny/test/systems/{world.system.pk}/best/")
    assert Standing.objects.get().value == 0.9


def test_an_organiser_disqualifies_in_public(world):
    stand(world, "Bernoulli", accuracy(0.9))
    url = f"/manage/benchmarks/tiny/phases/test/systems/{world.system.pk}/disqualify/"
    assert url in text(page(as_(world.curator), world))
    assert as_(world.researcher).get(url).status_code == 404
    assert as_(world.curator).post(url, {"reason": ""}).status_code == 422
    as_(world.curator).post(url, {"reason": "trained on <the> test set"})
    for address in ("/benchmarks/tiny/test/", "/benchmarks/tiny/", f"/systems/{world.system.pk}/"):
        assert "trained on &lt;the&gt; test set" in text(Client().get(address)), address
    board = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
    (row,) = Client().get(f"{board}/").json()["rows"]
    assert (row["rank"], row["disqualified"]) == (None, "trained on <the> test set")
    assert text(Client().get(f"{board}.csv")).splitlines()[1].endswith(",trained on <the> test set")
    as_(world.curator).post(url.replace("disqualify", "reinstate"))
    assert "disqualified" not in text(Client().get(f"{board}.csv"))
    assert "trained on" not in text(Client().get("/benchmarks/tiny/test/"))


ADDRESSES = (
    "/benchmarks/tiny/",
    "/benchmarks/tiny/test/",
    "/benchmarks/tiny/test/?sort=system",
    "/benchmarks/tiny/test/by/origin/",
    "/benchmarks/tiny/test/symmetric/",
    "/api/v1/benchmarks/tiny/phases/test/leaderboard/?slices=all",
    "/api/v1/benchmarks/tiny/phases/test/leaderboard.csv",
    "/api/v1/benchmarks/tiny/phases/test/leaderboard/comparisons/",
    "/benchmarks/tiny/test/head-to-head/",
    "/benchmarks/tiny/test/progress/",
    "/benchmarks/tiny/test/significance/",
    "/benchmarks/tiny/test/cite/",
    "/benchmarks/tiny/test/embed/",
    "/benchmarks/tiny/feed.atom",
    "/feed.atom",
    *(f"/api/v1/benchmarks/tiny/phases/test/leaderboard.{suffix}" for suffix in ("tex", "md", "bib", "json")),
)
UNNAMED = ("comparisons", "significance", "cite", ".bib", "Carnot")
"""Where a board names no system, or none without comparisons."""


def test_an_anonymous_system_is_named_nowhere(world):
    stand(world, "Bernoulli", description="wheels", paper_url="https://papers.example/wheels")
    stand(world, "Carnot", team="Others")
    url = f"/systems/{world.system.pk}/"
    until = timezone.now() + timedelta(days=1)
    fields = {"description": "wheels", "paper_url": "https://papers.example/wheels", "anonymous_until": until}
    assert as_(person("bob")).post(f"{url}edit/", fields).status_code == 404
    as_(world.researcher).post(f"{url}edit/", {**fields, "anonymous_until": f"{until:%Y-%m-%dT%H:%M}"})
    assert System.objects.get(pk=world.system.pk).anonymous_number == 1
    for address in (*ADDRESSES, url):
        page_text = text(Client().get(address))
        assert not [name for name in ("Bernoulli", "Analytical", "wheels") if name in page_text], address
        if not any(part in address for part in UNNAMED):
            assert "Anonymous 1" in page_text, address
    for viewer in (world.researcher, world.curator):
        page_text = text(as_(viewer).get(url))
        assert "Bernoulli" in page_text and "Anonymous 1" in page_text


def test_a_board_cached_for_a_reader_who_knows_the_name_is_not_public(world):
    stand(world, "Bernoulli")
    System.objects.update(anonymous_number=1, anonymous_until=timezone.now() + timedelta(days=1))
    named_response = as_(world.researcher).get("/benchmarks/tiny/test/")
    public_response = Client().get("/benchmarks/tiny/test/", HTTP_IF_NONE_MATCH=named_response["ETag"])
    assert public_response.status_code == 200
    assert "Cookie" in named_response["Vary"]


def test_an_invalid_form_is_refused_with_a_reason(world):
    response = as_(world.researcher).post(f"/systems/{world.system.pk}/edit/", {"paper_url": "javascript:alert(1)"})
    assert response.status_code == 422
    assert System.objects.get(pk=world.system.pk).paper_url == ""


def test_the_form_stores_every_field(world):
    until = (timezone.now() + timedelta(days=9)).replace(second=0, microsecond=0)
    fields = {
        "description": "Steam.",
        "paper_url": "https://papers.example/a",
        "code_url": "https://code.example/a",
        "bibtex": "@misc{a}",
    }
    sent = {**fields, "anonymous_until": f"{until:%Y-%m-%dT%H:%M}"}
    assert as_(world.researcher).post(f"/systems/{world.system.pk}/edit/", sent).status_code == 302
    assert System.objects.values(*fields, "anonymous_until").get(pk=world.system.pk) == {
        **fields,
        "anonymous_until": until,
    }
