"""Before its reveal date, the real name of an anonymous system is shown nowhere and cannot be confirmed by a request.

Someone who knows a name already (from a paper under review, for example) must not learn that it is on a board: a
request with that name is answered like one with any other name.
"""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from urllib.parse import quote, quote_plus

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django.utils.http import urlencode

from leaderboard.models import Leaderboard, Phase, System, Team, User
from leaderboard.plots.catalog import PLOTS
from leaderboard.systems.actions import systems
from tests.support.api_calls import client_of, person
from tests.support.crawler import crawl
from tests.support.crawler import read as fetch
from tests.support.full_run import FULL
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import cross, crossed_scores

pytestmark = pytest.mark.django_db
SYSTEM, TEAM = "Bernoulli", "Analytical Engines"
SECRETS = {
    "system": SYSTEM,
    "team": TEAM,
    "description": "wheels-of-brass",
    "paper_url": "https://papers.example/brass",
    "code_url": "https://code.example/brass",
    "bibtex": "@misc{brass-entry}",
}
ABSENT = "Nonesuch"
PHASE = "/benchmarks/tiny/test"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
CELLS = {(a, b): 0.5 for a in ("generated", "original") for b in ("REFUTES", "SUPPORTS")}
ENDS = (".csv", ".tex", ".md", ".bib", ".json", "/", "/comparisons/")


def anonymous_leader() -> World:
    """Two boards, the first one frozen; the anonymous system leads both and is not disqualified."""
    world = build()
    cross(world)
    stand(world, "Others' own", crossed_scores(CELLS, whole=0.5), team="Others")
    hidden = stand(world, SYSTEM, [*crossed_scores(CELLS, whole=0.9)], primary="accuracy").submission.system
    texts = {name: SECRETS[name] for name in ("description", "paper_url", "code_url", "bibtex")}
    systems.describe(system=hidden, by=world.researcher, anonymous_until=timezone.now() + timedelta(days=1), **texts)
    return world


world, _django_db_helper = shared_states(world=anonymous_leader)


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


def secrets_in(text: bytes) -> list[str]:
    return [secret for secret in SECRETS.values() if secret.encode() in text]


def outsiders(world: World) -> dict[str, User | None]:
    others = person("bob")
    world_of_others = System.objects.get(name="Others' own").team
    world_of_others.members.add(others)
    more = {"without a team": person("yuri")} if FULL else {}  # reads no more than a competitor
    return {"anonymous": None, "competitor": others, **more}


def starts(world: World) -> list[str]:
    frozen = f"{PHASE}/gold-1/task-1"
    pages = ["", "cite/", "embed/", "progress/", "significance/", "head-to-head/", "by/origin/"]
    pages += ["progress/?download=csv", "symmetric/", "badge.svg?system=Anonymous+1"]
    pages += ["?sort=system", "by/origin/?measure=all", "two-way/origin/label/", "two-way/origin/label/?view=table"]
    addresses = [f"{where}/{page}" for where in (PHASE, frozen) for page in pages]
    addresses += [
        f"{API}{end}?slices=all{version}" for end in ENDS for version in ("", "&gold_version=1&task_version=1")
    ]
    addresses += [f"{API}/plots/{name}/" for name in PLOTS]
    addresses += ["/feed.atom", "/benchmarks/tiny/feed.atom", "/benchmarks/tiny/", "/api/v1/benchmarks/tiny/", "/"]
    return [*addresses, f"/systems/{world.system.pk}/", "/api/v1/submissions/", "/me/submissions/", "/me/teams/"]


@pytest.mark.parametrize(
    "state", [Leaderboard.State.CURRENT, pytest.param(Leaderboard.State.FROZEN, marks=pytest.mark.slow)]
)
def test_outsiders_read_the_name_nowhere(world: World, state: str) -> None:
    Leaderboard.objects.update(state=state)
    pages_read = 0
    for role, user in outsiders(world).items():
        client = Client()
        if user is not None:
            client.force_login(user)
        answers = list(crawl(client, starts(world)))
        if user is not None:
            answers += [fetch(client_of(user), address) for address in starts(world)]
        assert [(role, answer.address, secrets_in(answer.text)) for answer in answers if secrets_in(answer.text)] == []
        assert not [answer.address for answer in answers if answer.status >= 500]
        assert any(b"Anonymous 1" in answer.text for answer in answers)
        pages_read += len(answers)
    assert pages_read > 200


def test_the_search_finds_the_name_where_it_is_shown(world: World) -> None:
    client = Client()
    client.force_login(world.researcher)
    found_by_team = {secret for page_ in crawl(client, starts(world)) for secret in secrets_in(page_.text)}
    assert found_by_team == set(SECRETS.values()), "its team reads all secrets"
    System.objects.filter(name=SYSTEM).update(anonymous_until=timezone.now() - timedelta(seconds=1))
    found_by_public = {secret for page_ in crawl(Client(), starts(world)) for secret in secrets_in(page_.text)}
    assert found_by_public == set(SECRETS.values()), "after the date everybody reads them"


def response_to(address: str, name: str, query: dict[str, str]) -> tuple[int, str, list[tuple[str, str]]]:
    """(status, page, headers), without the requested name, the links that repeat it, and the request's id."""
    where = address.format(quote(name)) + "?" + urlencode({key: value.format(name) for key, value in query.items()})
    answer = Client().get(where)
    body = re.sub(r'href="/accounts/(login|signup)/[^"]*"', "ENTRANCE", answer.content.decode())
    body = re.sub(r"#[0-9a-f]{32}", "#REQUEST", body)
    for quote_plu in (name, quote(name), quote_plus(name)):
        body = body.replace(quote_plu, "NAME")
    headers = [(key, value) for key, value in answer.items() if key not in ("Content-Length", "ETag", "X-Request-ID")]
    return answer.status_code, body, sorted(headers)


ORACLES = [
    (f"{PHASE}/badge.svg", {"system": "{}"}),
    (f"{PHASE}/badge.svg", {"system": "{}", "team": TEAM}),
    (f"{PHASE}/badge.svg", {"system": "Anonymous 1", "team": "{}"}),
    (f"{PHASE}/gold-1/task-1/badge.svg", {"system": "{}"}),
    (f"{PHASE}/embed/", {"system": "{}", "measure": "{}"}),
    (f"{PHASE}/", {"q": "{}"}),
    (f"{PHASE}/", {"sort": "{}"}),
    (f"{PHASE}/", {"system": "{}"}),
    (f"{PHASE}/", {"text": "{}"}),
    (f"{PHASE}/", {"search": "{}"}),
    (f"{PHASE}/", {"team": "{}"}),
    (f"{PHASE}/head-to-head/", {"a": "{}"}),
    (f"{API}/", {"sort": "{}"}),
    (f"{API}/", {"system": "{}"}),
    (f"{API}/", {"q": "{}"}),
    (f"{API}/", {"search": "{}"}),
    (f"{API}/", {"team": "{}"}),
    (f"{API}.csv", {"q": "{}", "system": "{}", "team": "{}"}),
    (f"{API}.tex", {"q": "{}", "system": "{}", "team": "{}"}),
    ("/api/v1/benchmarks/", {"search": "{}"}),
    ("/", {"q": "{}"}),
    ("/feed.atom", {"system": "{}"}),
    ("/systems/{}/", {}),
]


@pytest.mark.parametrize(("address", "query"), ORACLES, ids=str)
def test_its_name_is_answered_like_an_unknown_one(world: World, address: str, query: dict[str, str]) -> None:
    absent = response_to(address, ABSENT, query)
    for name in (SYSTEM, SYSTEM.lower(), TEAM):
        assert response_to(address, name, query) == absent, name


@pytest.mark.parametrize("version", ["", "gold-1/task-1/"])
def test_a_badge_requested_by_the_real_name_is_a_404(world: World, version: str) -> None:
    where = f"{PHASE}/{version}badge.svg"
    for client in (Client(), client_of(world.researcher), client_of(world.curator)):
        assert client.get(where, {"system": SYSTEM}).status_code == 404
        assert client.get(where, {"system": "Anonymous 1", "team": TEAM}).status_code == 404
        assert client.get(where, {"system": "Anonymous 1"}).status_code == 200
    System.objects.filter(name=SYSTEM).update(anonymous_until=timezone.now() - timedelta(seconds=1))
    assert Client().get(where, {"system": SYSTEM}).status_code == 200
    assert Client().get(where, {"system": "Anonymous 1"}).status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        f"{PHASE}/",
        f"{PHASE}/?sort=system",
        f"{PHASE}/by/origin/?measure=accuracy&sort=system",
        f"{PHASE}/embed/",
        f"{API}/",
        f"{API}/?sort=system",
        f"{API}/?sort=-team",
        f"{API}.csv?sort=team",
        f"{API}.json",
    ],
)
def test_a_known_name_cannot_be_checked_against_an_etag(world: World, address: str) -> None:
    """The public answer, its ETag and its order depend only on what the public reads, not on the hidden name."""
    before = Client().get(address)
    System.objects.filter(pk=world.system.pk).update(name="Zuse", description="other wheels")
    Team.objects.filter(name=TEAM).update(name="Zeppelins")
    after = Client().get(address)
    assert before["ETag"] == after["ETag"] and before.content == after.content
    conditional = Client().get(address, headers={"If-None-Match": before["ETag"]})
    assert conditional.status_code == 304


def test_citations_and_their_digest_contain_the_number(world: World) -> None:
    digest = hashlib.sha256(Client().get(f"{API}.json").content).hexdigest()
    for user in (world.researcher, world.curator):
        client = Client()
        client.force_login(user)
        page = client.get(f"{PHASE}/cite/").content
        assert digest.encode() in page and secrets_in(page) == []


def test_a_disqualified_anonymous_system_keeps_its_number(world: World) -> None:
    hidden = System.objects.get(name=SYSTEM)
    systems.disqualify(phase=world.phase, system=hidden, reason="two accounts", by=world.curator)
    public_page = Client().get(f"{PHASE}/").content
    assert b"Anonymous 1" in public_page and secrets_in(public_page) == []
    assert secrets_in(Client().get(f"/systems/{hidden.pk}/").content) == []


def test_another_team_may_use_the_name_and_learns_nothing(world: World) -> None:
    """Names of systems are per team, so the site does not say that another team uses the name."""
    bob = person("bob")
    answer = client_of(bob).get("/api/v1/submissions/", {"system": SYSTEM})
    assert (answer.status_code, answer.json()["count"]) == (200, 0)
    assert Phase.objects.get().representatives.count() == 0
