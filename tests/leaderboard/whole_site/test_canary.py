"""Text that only gold contains appears nowhere: in no page, response, error, export, mail or log.

Unique words are inserted into gold where the format permits. Then the files are hosted, answered correctly and
incorrectly, scored and corrupted; every role reads everything it can reach, and all of it is searched for the words.
Only the curators' page of gold may show them, and each view of it is in the audit trail.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone

from evaluator.sandbox.process.launch import start
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.comparisons.actions import head_to_head, rank_ranges
from leaderboard.datasets.actions import datasets, lifecycle, splits
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    GoldVersion,
    HeadToHead,
    Leaderboard,
    Notice,
    Phase,
    Release,
    Run,
    Score,
    State,
    Submission,
    User,
)
from leaderboard.notifications.actions import deliver
from leaderboard.plots.catalog import PLOTS
from leaderboard.scoring.actions import runs
from tests.support.api_calls import ROOT, client_of, person
from tests.support.crawler import Answer, crawl, patterns
from tests.support.rows.tiny_world import uploaded
from tests.support.workers import sweeps

pytestmark = pytest.mark.django_db
CANARY = "CANARY"
LABELS = ("SUPPORTS", "REFUTES", "REFUTES", "SUPPORTS")
CLAIMS = [
    {
        "id": f"c{group}{member}",
        "claim": f"claim {group} {member // 2}",
        "evidence_text": f"text {group} {member % 2}",
        "label": LABELS[member],
        "evidence": [[[f"{CANARY}-annotation", None, f"{CANARY}_page_{group}", member]]],
        "group": f"{CANARY}-group-{group}",
        "slices": {"origin": "original" if member == 0 else "generated"},
        "remark": f"{CANARY}-remark-{group}{member}",
    }
    for group in range(3)
    for member in range(4)
]
TEXT = "Ada lived in old Paris"
FACTS = [
    {
        "documentId": f"d{number}",
        "documentText": TEXT,
        "group": f"{CANARY}-document-group",
        "passages": [
            {
                "passageId": f"d{number}:0:22",
                "passageStart": 0,
                "passageEnd": 22,
                "passageText": TEXT,
                "exhaustivelyAnnotatedProperties": [{"propertyId": "9", "propertyName": "PLACE_OF_RESIDENCE"}],
                "facts": [
                    {
                        "factId": f"{CANARY}-fact",
                        "propertyId": "9",
                        "humanReadable": f"{CANARY}-readable",
                        "subjectStart": 0,
                        "subjectEnd": 3,
                        "subjectUri": f"http://kb.example/{CANARY}-subject",
                        "objectStart": 17,
                        "objectEnd": 22,
                        "objectUri": f"http://kb.example/{CANARY}-object-{number}",
                    }
                ],
            }
        ],
    }
    for number in range(3)
]


def lines(objects: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in objects)


def answers(*labels: str) -> list[dict[str, Any]]:
    return [
        {"id": claim["id"], "predicted_label": labels[index % len(labels)], "predicted_evidence": [["Page", 0]]}
        for index, claim in enumerate(CLAIMS)
    ]


@dataclass
class Stage:
    """All users, and the benchmarks in which they take part."""

    people: dict[str, User]
    operator_log: Path

    def client(self, role: str) -> Client:
        client = Client(raise_request_exception=False)
        if role != "anonymous":
            client.force_login(self.people[role])
        return client


def host(slug: str, task: str, gold: list[dict[str, Any]], by: User) -> Benchmark:
    dataset = datasets.create(slug=slug, title=slug.title(), task=task, by=by)
    split = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, options={}, by=by)
    with closing(uploaded(lines(gold), "gold.jsonl")) as file:
        splits.add_gold(split=split, file=file, reason="first", by=by)
    lifecycle.publish_unaudited(split=split, by=by)
    texts = {"title": slug.title(), "summary": "Hidden.", "description": "", "rules": ""}
    benchmark = benchmarks.create(slug=slug, task=task, dataset=dataset, by=by, **texts)
    limits = {"opens_at": None, "closes_at": None, "quota_per_day": 50, "quota_total": 100}
    phase = Phase(benchmark=benchmark, slug="test", title="Test", split=split, **limits)
    benchmarks.add_phase(phase=phase, by=by)
    benchmarks.publish(benchmark=benchmark, by=by)
    return benchmark


@pytest.fixture
def stage(tmp_path, settings) -> Iterator[Stage]:
    settings.SANDBOX_SOCKET = str(tmp_path / "sandbox.sock")
    log = tmp_path / "operator.log"
    with log.open("wb") as output:
        server = start(settings.SANDBOX_SOCKET, stderr=output.fileno())
        people = {
            "A": person("ada"),
            "B": person("bob"),
            "organiser": person("olive"),
            "other organiser": person("oscar"),
            "curator": person("cora", is_curator=True, is_staff=True, is_superuser=True),
        }
        try:
            host("claims", "fact-verification", CLAIMS, people["curator"]).organisers.add(people["organiser"])
            host("facts", "knowledge-base-population", FACTS, people["curator"]).organisers.add(
                people["other organiser"]
            )
            yield Stage(people, log)
        finally:
            server.terminate()
            server.wait()


def send(client: Client, slug: str, content: bytes, name: str = "p.jsonl") -> Any:
    """Through the API; the page takes the same file, so that its errors are read, too."""
    file = SimpleUploadedFile(name, content)
    return client.post(f"{ROOT}/benchmarks/{slug}/phases/test/submissions/", {"system": "Sounder", "file": file})


def bad_uploads() -> Iterator[tuple[str, bytes]]:
    good = answers("SUPPORTS")
    yield "claims", b"{"
    yield "claims", lines(good[:-2])
    yield "claims", lines([*good, {**good[0], "id": "other"}])
    yield "claims", lines([{**good[0], "predicted_label": "MAYBE"}, *good[1:]])
    yield "claims", lines([{"id": line["id"], "predicted_label": "REFUTES"} for line in good])
    yield "facts", lines([{"documentId": "d9", "passageId": "d9:0:1", "facts": []}])
    yield "facts", lines([{"documentId": "d0", "passageId": "d0:0:22", "facts": [{"propertyId": "9"}]}])


def play(stage: Stage) -> list[Answer]:
    """Uploads files of every kind and scores the valid ones; returns the responses."""
    responses = []
    api, page = client_of(stage.people["A"]), stage.client("A")
    for slug, content in bad_uploads():
        refused = send(api, slug, content)
        assert refused.status_code == 422
        page_response = page.post(
            f"/benchmarks/{slug}/test/submit/",
            {"system": "", "new_system": "Sounder", "note": "", "file": SimpleUploadedFile("p.jsonl", content)},
        )
        responses += [
            Answer("api", 422, refused.content),
            Answer("page", page_response.status_code, page_response.content),
        ]
    for labels in (("SUPPORTS",), LABELS, ("NOT ENOUGH INFO",)):
        assert send(api, "claims", lines(answers(*labels))).status_code == 201
    assert send(client_of(stage.people["B"]), "claims", lines(answers("REFUTES"))).status_code == 201
    fact = {name: FACTS[0]["passages"][0]["facts"][0][name] for name in ("subjectStart", "subjectEnd", "objectEnd")}
    fact |= {"propertyId": "9", "objectStart": 17, "subjectUri": "x", "objectUri": "y"}
    guess = [{"documentId": "d0", "passageId": "d0:0:22", "facts": [fact]}]
    assert send(api, "facts", lines(guess)).status_code == 201
    assert send(client_of(stage.people["B"]), "facts", gzip.compress(lines(guess)), "p.jsonl.gz").status_code == 201
    for run in Run.objects.all():
        runs.WORK.run(run.pk)
    assert set(Run.objects.values_list("state", flat=True)) == {State.DONE}
    return responses + corrupt_gold(stage, api)


def corrupt_gold(stage: Stage, api: Client) -> list[Answer]:
    """Makes gold unparsable, and alters gold in storage: both fail visibly, and neither may be quoted."""
    responses = []
    for content, digest in (
        (lines([*CLAIMS[:-1], {**CLAIMS[-1], "label": f"{CANARY}-label"}]), None),
        (lines(CLAIMS) + b"\n", "0" * 64),
    ):
        last = GoldVersion.objects.filter(split__dataset__slug="claims").order_by("-number").first()
        broken = GoldVersion(
            **{name: getattr(last, name) for name in ("split", "n_lines", "n_units", "n_groups", "dimensions")},
            **{name: getattr(last, name) for name in ("measures", "primary", "expects")},
            number=last.number + 1,
            sha256=digest or hashlib.sha256(content).hexdigest(),
            bytes=len(content),
            reason="broken",
        )
        broken.file.save("gold.jsonl", ContentFile(content), save=False)
        broken.save()
        assert send(api, "claims", lines(answers("REFUTES"))).status_code == 201
        run = Run.objects.latest("queued_at")
        while not run.is_over:
            runs.WORK.run(run.pk)
            run.refresh_from_db()
        assert run.state == State.FAILED
        responses.append(Answer("run", 0, f"{run.reason} {run.problems} {run.warnings} {run.provenance}".encode()))
    with closing(uploaded(lines([{**CLAIMS[0], "id": None}]), "gold.jsonl")) as file:
        form = {"file": file, "reason": "x"}
        stage.client("curator").post("/manage/benchmarks/claims/splits/test/gold/", form)
    return responses


def every_address() -> list[str]:
    """Returns each address of the site except the admin's, with values for its parameters, including unlinked ones.

    Addresses for POST are requested by GET too, because their refusal is a response.
    """
    addresses = []
    for route, name in patterns():
        if route.startswith(("admin/", "accounts/")):
            continue
        for slug, dimension in (("claims", "origin"), ("facts", "property")):
            parameters = filled(route, slug) | {"dimension": dimension, "pair": "origin/label"}
            queries = QUERIES.get(name.removeprefix("frozen_"), [""])
            for plot in PLOTS if "<slug:plot>" in route else [""]:
                values = {**parameters, "plot": plot}
                address = reverse(name, kwargs={blank: values.get(blank, 1) for blank in BLANK.findall(route)})
                addresses += [address + query for query in ["", *queries]]
    return addresses


BLANK = re.compile(r"<(?:\w+:)?(\w+)>")
DRAWN = ["?download=csv", "?format=json"]
ROWS = ["?slices=all", "?sort=nothing"]
QUERIES = {
    "badge": ["?system=Sounder", "?system=Sounder&measure=nothing"],
    "embed": ["?rows=1", "?measure=accuracy"],
    **dict.fromkeys(("significance", "progress", "pairs", "roc", "agreement", "head_to_head"), DRAWN),
    **{f"api_leaderboard{end}": ROWS for end in ("", "_csv", "_latex", "_markdown")},
}


def filled(route: str, slug: str) -> dict[str, Any]:
    """Returns values for the parameters of a route."""
    submission = Submission.objects.filter(phase__benchmark__slug=slug).earliest("received_at")
    key: Any = uuid.uuid4() if "<uuid:pk>" in route else 1
    if "systems/" in route:
        key = submission.system_id
    elif "submissions/" in route:
        key = submission.pk
    elif "teams/" in route:
        key = submission.system.team_id
    parameters = {"slug": slug, "phase": "test", "split": "test", "gold": 1, "task_version": 1, "number": 1, "pk": key}
    return parameters | {
        "name": "fact-verification",
        "task": "fact-verification",
        "token": "x",
        "key": "x",
        "rest": "nowhere",
    }


def starts() -> list[str]:
    """Returns the start of a crawl: entry pages, and addresses without links to them."""
    benchmark_urls = [
        f"/{prefix}benchmarks/{slug}/" for slug in ("claims", "facts") for prefix in ("", "manage/", "api/v1/")
    ]
    hidden = [
        f"/benchmarks/{slug}/splits/test/{file}.jsonl" for slug in ("claims", "facts") for file in ("gold", "inputs")
    ]
    boards = [f"{ROOT}/benchmarks/{slug}/phases/test/leaderboard" for slug in ("claims", "facts")]
    exports = [f"{board}{end}" for board in boards for end in ("/?slices=all", ".csv?slices=all", "/?sort=nothing")]
    doors = ["/", "/me/submissions/", "/me/tokens/", "/manage/", "/admin/", "/accounts/password/reset/", "/nowhere/"]
    urls = [
        *doors,
        *benchmark_urls,
        *hidden,
        *exports,
        f"{ROOT}/",
        f"{ROOT}/submissions/",
        f"{ROOT}/schema/",
        f"{ROOT}/docs/",
    ]
    return [*dict.fromkeys([*urls, *every_address()])]


def run_background_work() -> None:
    """Runs the background work other than scoring, so that its results can be read."""
    for slug in ("claims", "facts"):
        assert Client().get(f"/benchmarks/{slug}/test/head-to-head/").status_code == 200
    sweeps.sweep()
    for board in Leaderboard.objects.all():
        rank_ranges.WORK.run(board.pk)
    for pair in HeadToHead.objects.filter(state=State.QUEUED):
        head_to_head.WORK.run(pair.pk)
    assert set(HeadToHead.objects.values_list("state", flat=True)) == {State.DONE}
    for notice in Notice.objects.all():
        deliver.deliver(notice_id=notice.pk)
    assert Notice.objects.filter(state=Notice.State.DONE).exists()


def name_of(address: str) -> str | None:
    """Returns the name of the address's route; None if it has none."""
    try:
        return resolve(urlsplit(address).path).url_name
    except Resolver404:
        return None


def may_show(role: str, address: str) -> bool:
    """Returns True for the curators' audited page of a gold version."""
    path = urlsplit(address).path  # the query is the format of a download
    return role == "curator" and path.startswith("/manage/") and path.rsplit("/gold/", 1)[-1][:-1].isdigit()


@pytest.mark.slow
def test_gold_appears_nowhere(stage, caplog, settings):
    caplog.set_level(0)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    User.objects.update(mailed_since=timezone.now())
    upload_responses = play(stage)
    run_background_work()
    curator_pages = []
    for role in ("anonymous", *stage.people):
        client = stage.client(role)
        for answer in crawl(client, starts()):
            assert answer.status < 500, (role, answer.address)
            if may_show(role, answer.address):
                curator_pages.append(answer)
            else:
                upload_responses.append(answer)
        if role != "anonymous":
            Client().post("/accounts/password/reset/", {"email": stage.people[role].email})

    leaks = [answer.address for answer in upload_responses if CANARY.encode() in answer.text]
    assert leaks == []
    assert len(upload_responses) > 300
    logs = caplog.text + stage.operator_log.read_text()
    assert CANARY not in logs
    assert len(mail.outbox) >= len(stage.people)
    assert CANARY not in "".join(message.message().as_string() for message in mail.outbox)
    stored_values = [*Score.objects.values_list("measure", "slice"), *Release.objects.values_list("values", "warnings")]
    stored_values += [
        *AuditEntry.objects.values_list("action", "detail"),
        *Run.objects.values_list("problems", "provenance"),
    ]
    stored_values += [*Notice.objects.values_list("body"), *HeadToHead.objects.values_list("report")]
    assert CANARY not in json.dumps(stored_values, default=str)
    read = {name_of(answer.address) for answer in upload_responses}
    route_names = {name for route, name in patterns() if not route.startswith(("admin/", "accounts/"))}
    assert route_names - read <= {"manage_gold_read"}, "addresses that nobody asked for"

    # The search is effective: gold has the words, and the curator's page shows them and records the view.
    assert all(CANARY.encode() in gold.file.open("rb").read() for gold in GoldVersion.objects.all())
    assert curator_pages and any(CANARY.encode() in answer.text for answer in curator_pages)
    assert AuditEntry.objects.filter(action="gold.read").count() == len([a for a in curator_pages if a.status == 200])
