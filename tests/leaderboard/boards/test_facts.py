"""Facts of systems: organisers ask for them, teams state them, boards show, sort and filter by them."""

from __future__ import annotations

import csv
import hashlib
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from leaderboard.boards.actions import boards
from leaderboard.boards.actions import facts as actions
from leaderboard.boards.queries import facts
from leaderboard.boards.queries.facts import Fact
from leaderboard.containers.actions import image_uploads
from leaderboard.models import AuditEntry, Benchmark, Leaderboard, Phase, QuotaCharge, System
from tests.support.api_calls import SUBMIT, client_of, footprint, send
from tests.support.rows.board_rows import score, stand
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build, prediction_lines

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/tiny/test/"
RAW = "application/x-ndjson"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
ASKED = [
    {"name": "parameters", "title": "Parameters", "kind": "number"},
    {"name": "open_weights", "title": "Open weights", "kind": "yes-no"},
    {"name": "licence", "title": "Licence", "kind": "text"},
]
STATED: dict[str, dict[str, Any]] = {
    "Small": {"parameters": 7e9, "open_weights": True, "licence": "MIT"},
    "Large": {"parameters": 70e9, "open_weights": False, "licence": "=proprietary <b>"},
    "Silent": {},
    "Odd": {"parameters": "many", "open_weights": "yes", "unasked": 1},
}


def built() -> World:
    new_world = build()
    new_world.benchmark.organisers.add(new_world.curator)
    for index, (name, stated) in enumerate(STATED.items()):
        stand(new_world, name, [score("accuracy", 0.9 - index / 10)], facts=stated)
    actions.change(benchmark=new_world.benchmark, new_facts=ASKED, by=new_world.curator)
    return new_world


world, _django_db_helper = shared_states(world=built)


@pytest.fixture
def large_quota(world: World) -> None:
    Phase.objects.update(quota_per_day=20, quota_total=20)


def systems(query: str, client: Client | None = None) -> list[str]:
    response = (client or Client()).get(f"{API}?{query}")
    assert response.status_code == 200, response.content
    return [row["system"] for row in response.json()["rows"]]


def test_a_board_shows_what_the_benchmark_asks_for(world: World) -> None:
    rows = {row["system"]: row["facts"] for row in Client().get(API).json()["rows"]}
    assert rows == {**STATED, "Odd": {}}, "values of another kind, and facts that nobody asks for, are left out"
    text = Client().get(f"{API.rstrip('/')}.csv").content.decode()
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["fact:parameters"] for row in table] == ["7000000000.0", "70000000000.0", "", ""]
    assert [row["fact:open_weights"] for row in table] == ["yes", "no", "", ""]
    assert table[1]["fact:licence"] == "'=proprietary <b>"
    page = Client().get(PAGE).content.decode()
    assert "<bdi>70,000,000,000</bdi>" in page and "&lt;b&gt;" in page and "Sort by Open weights" in page
    assert "Sort by Open weights" not in Client().get(f"{PAGE}?columns=accuracy").content.decode()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort=fact:parameters", ["Large", "Small", "Silent", "Odd"]),
        ("sort=-fact:parameters", ["Small", "Large", "Silent", "Odd"]),
        ("sort=fact:licence", ["Large", "Small", "Silent", "Odd"]),
        ("by=fact:parameters&at_least=1e10", ["Large"]),
        ("by=fact:parameters&at_most=1e10", ["Small"]),
        ("fact:open_weights=yes", ["Small"]),
        ("fact:open_weights=no", ["Large"]),
        ("fact:licence=mi", ["Small"]),
        ("fact:parameters=7e9", ["Small"]),
        ("fact:unasked=1", ["Small", "Large", "Silent", "Odd"]),
    ],
)
def test_facts_sort_and_filter(world: World, query: str, expected: list[str]) -> None:
    if "Odd" in expected:
        System.objects.filter(name="Odd").update(facts={})
    else:
        System.objects.filter(name="Odd").update(facts={"unasked": 1})
    assert systems(query) == expected
    day = Leaderboard.objects.get().shown_from
    assert day is not None
    assert systems(f"{query}&as_of={day.date().isoformat()}") == expected, "also on a past day, in Python"


def test_a_value_that_cannot_be_is_refused(world: World) -> None:
    response = Client().get(f"{API}?fact:open_weights=perhaps")
    assert response.status_code == 400 and "yes or no" in response.content.decode()
    assert Client().get(f"{API}?sort=fact:unasked").status_code == 400


def test_facts_of_an_anonymous_system_are_hidden(world: World) -> None:
    System.objects.filter(name="Large").update(anonymous_until="2100-01-01T00:00Z", anonymous_number=5)
    rows = {row["system"]: row["facts"] for row in Client().get(API).json()["rows"]}
    assert rows["Anonymous 5"] == {}
    assert "Odd" not in systems("by=fact:parameters&at_least=-1"), "it stated a text where a number is asked for"
    for query in ("fact:licence=proprietary", "fact:open_weights=no", "by=fact:parameters&at_least=1e10"):
        assert systems(query) == [], query
    assert systems("sort=fact:parameters")[0] == "Small", "as if it had stated nothing"
    system = System.objects.get(name="Large")
    assert "proprietary" not in Client().get(f"/systems/{system.pk}/").content.decode()
    own = Client()
    own.force_login(world.researcher)
    assert systems("fact:licence=proprietary", own) == ["Large"]


def test_a_team_states_the_facts_on_the_page_of_its_system(world: World) -> None:
    system = System.objects.get(name="Silent")
    client = Client()
    client.force_login(world.researcher)
    form = f"/systems/{system.pk}/edit/"
    assert "Open weights" in client.get(form).content.decode()
    before = client.get(PAGE)["ETag"]
    answers = {"fact:parameters": "1.5e6", "fact:open_weights": "yes", "fact:licence": " "}
    assert client.post(form, {"fact:parameters": "a few"}).status_code == 422
    assert client.post(form, answers).status_code == 302
    system.refresh_from_db()
    assert system.facts == {"parameters": 1.5e6, "open_weights": True}
    assert client.get(PAGE)["ETag"] != before
    page = client.get(f"/systems/{system.pk}/").content.decode()
    assert "1,500,000" in page and "not stated" in page


def rows(facts_: list[tuple[str, str, str]]) -> dict[str, str]:
    """Return the fields of the form of facts, which are (name, title, kind)."""
    fields = {"form-TOTAL_FORMS": str(len(facts_) + 1), "form-INITIAL_FORMS": "0"}
    for number, fact in enumerate(facts_):
        fields |= {f"form-{number}-{key}": value for key, value in zip(("name", "title", "kind"), fact, strict=True)}
    return fields


def test_organisers_choose_the_facts(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    address = reverse("manage_facts", args=["tiny"])
    page = client.get(address).content.decode()
    assert 'value="parameters"' in page and page.count('name="form-') == 4 + 3 * (len(ASKED) + 3 + 1)
    a, b = ("a", "A", "text"), ("b", "B", "number")
    for wrong, said in (
        ([("parameters", "", "text")], "This field is required."),
        ([a, ("Über", "Title", "text")], "Expected lower-case letters a-z"),
        ([("a", "A", "colour")], "colour is not one of the available choices"),
        ([a, b, a], "the fact a is listed twice"),
        ([("a", "Größe", "text"), ("b", "GRÖSSE", "number")], "the title of b is &#x27;GRÖSSE&#x27;, as that of a;"),
        ([("a", "A\u202eB", "text")], "a control character, U+202E"),
        ([("a", "\u3164", "text")], "no visible characters"),
        ([(f"a{n}", "A", "text") for n in range(21)], "at most 20"),
        ([(f"a{n}", "A", "text") for n in range(201)], "more facts than the 20"),
    ):
        answer = client.post(address, rows(wrong))
        assert answer.status_code == 422 and said in answer.content.decode(), wrong
    for total in ("0", "-1", "", "1"):
        cut_off = client.post(address, {**rows([a, b]), "form-TOTAL_FORMS": total})
        assert cut_off.status_code == 422 and "arrived incomplete" in cut_off.content.decode(), total
    assert len(Benchmark.objects.get().facts) == len(ASKED)
    empty = ("", "", "text")
    assert client.post(address, rows([empty, ("licence", "Licence", "text"), empty])).status_code == 302
    assert facts.of(Benchmark.objects.get()) == [Fact("licence", "Licence", "text")]
    assert AuditEntry.objects.filter(action="benchmark.facts_changed").count() == 2
    assert set(Client().get(API).json()["rows"][0]["facts"]) == {"licence"}
    assert System.objects.get(name="Small").facts == STATED["Small"], "answers stay stored"


@pytest.mark.usefixtures("sandbox", "large_quota")
def test_a_team_states_facts_with_a_submission(world: World) -> None:
    client = Client()
    client.force_login(world.researcher)
    address = reverse("submit", args=["tiny", "test"])
    assert '<details class="part"><summary>Facts about the system' in client.get(address).content.decode()
    sent = {"new_system": "Fresh", "fact:parameters": "7e9", "fact:open_weights": "no", "fact:licence": ""}

    def send_form(**changes: str) -> Any:
        file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
        again = hashlib.sha256(prediction_lines()).hexdigest()
        return client.post(address, {**sent, **changes, "again": again, "file": file})

    before = footprint()
    refused = send_form(**{"fact:parameters": "many"})
    assert refused.status_code == 422 and '<details class="part" open>' in refused.content.decode()
    assert footprint() == before
    assert send_form().status_code == 302
    fresh = System.objects.get(name="Fresh")
    assert fresh.facts == {"parameters": 7e9, "open_weights": False}
    answers = {"fact:parameters": "", "fact:open_weights": "yes"}
    assert send_form(new_system="", system=str(fresh.pk), **answers).status_code == 302
    fresh.refresh_from_db()
    assert fresh.facts == {"parameters": 7e9, "open_weights": True}, "an empty field changes nothing"


@pytest.mark.usefixtures("sandbox", "large_quota")
def test_the_api_takes_facts_with_a_submission(world: World) -> None:
    ada = client_of(world.researcher)
    before = footprint()
    for wrong in (["colour=red"], ["parameters"], ["parameters=many"], ["parameters=7e9", "parameters=8e9"]):
        refused = send(ada, prediction_lines(), fact=wrong)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_fact"), wrong
        assert "expected" in refused.json()["message"]
    assert footprint() == before
    assert send(ada, prediction_lines(), fact=["parameters=7e9", "licence=a=b"]).status_code == 201
    assert System.objects.get(name="Bernoulli").facts == {"parameters": 7e9, "licence": "a=b"}
    raw = ada.post(f"{SUBMIT}?system=Bernoulli&fact=licence=&fact=open_weights=yes", prediction_lines(), RAW)
    assert raw.status_code == 201, raw.content
    assert System.objects.get(name="Bernoulli").facts == {"parameters": 7e9, "open_weights": True}


@pytest.mark.usefixtures("sandbox", "large_quota")
@pytest.mark.parametrize("kind", ["api", "page", "image"])
def test_facts_and_submission_are_stored_together(world: World, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that obeys the error would otherwise submit again, and be charged twice."""
    client = client_of(world.researcher) if kind != "page" else Client()
    client.force_login(world.researcher)
    client.raise_request_exception = False
    stated = {"system": "Small", "fact": ["parameters=1"]}
    if kind == "image":
        takes_images(world)
        engine_is_there()
        upload = image_uploads.begin(phase=world.phase, name="i.tar", size=3, by=world.researcher)
        image_uploads.add(upload=upload, offset=0, chunk=b"abc")

    def submit() -> Any:
        if kind == "api":
            return send(client, prediction_lines(), **stated)
        if kind == "image":
            return client.post(reverse("api_image_submit", args=[upload.pk]), stated, content_type="application/json")
        file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
        form = {"system": str(System.objects.get(name="Small").pk), "fact:parameters": "1", "file": file}
        again = hashlib.sha256(prediction_lines()).hexdigest()
        return client.post(reverse("submit", args=["tiny", "test"]), {**form, "again": again})

    def busy(*_: Any) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    before = footprint()
    with monkeypatch.context() as patched:
        patched.setattr(boards, "revise", busy)
        assert submit().status_code in (500, 503)
    assert {**footprint(), "files": before["files"]} == before
    assert System.objects.get(name="Small").facts == STATED["Small"]
    assert submit().status_code in (201, 302)
    assert System.objects.get(name="Small").facts["parameters"] == 1
    assert QuotaCharge.objects.count() == before["QuotaCharge"] + 1
