"""Stored text from users never runs as script in a real browser: script in each field, on each page, for each role.

The fields come from the models, so that every later text field is either tested or listed as not written by users.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import models
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from playwright.sync_api import Browser

from leaderboard.models import (
    Announcement,
    ArchiveImport,
    Bar,
    ChangedItem,
    Correction,
    Disqualification,
    Download,
    Extension,
    GoldUpload,
    GoldVersion,
    HiddenSubmission,
    ImageUpload,
    Leaderboard,
    Profile,
    RawFile,
    RawUpload,
    Registration,
    ReportedResult,
    Split,
    Standing,
    State,
    System,
    Teaser,
    TokenDetails,
    User,
    Webhook,
)
from tests.browser.conftest import Watch
from tests.leaderboard.benchmarks.test_teaser import png
from tests.support import custom_scorers
from tests.support.api_calls import person
from tests.support.crawler import crawl
from tests.support.rows.board_rows import score, stand, symmetric_scores
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import cross, crossed_scores

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NASTY = "\"'></title></textarea></script><script>taken=1</script><img src=x onerror=taken=1><svg onload=taken=1>"
URL = "https://nasty.example/\"'><script>taken=1</script>"
IMMUTABLE = {"GoldVersion", "Release", "AuditEntry", "Scorer"}
WRITTEN = {
    "Dataset": ["title", "description", "licence", "citation", "source_url"],
    "Split": ["retired_reason"],
    "Benchmark": [
        *("title", "summary", "description", "rules", "contact"),
        *("questions_url", "paper_url", "shown_organisers"),
    ],
    "Phase": ["title"],
    "ReportedResult": ["system", "paper", "table", "split", "note"],
    "Team": ["name"],
    "Profile": ["name", "affiliation", "url"],
    "System": ["name", "description", "paper_url", "code_url", "bibtex"],
    "Announcement": ["title", "text"],
    "Extension": ["reason"],
    "ImageUpload": ["name"],
    "Submission": ["note"],
    "Prediction": ["name", "log"],
    "Run": ["detail"],
    "Standing": ["disqualified"],
    "Disqualification": ["reason"],
    "HiddenSubmission": ["reason"],
    "Download": ["title", "description"],
    "NearDuplicate": ["reason"],
    "Webhook": ["url"],
    "User": ["username", "first_name", "last_name"],
    "WorkerReport": ["message", "host"],
    "AuditAnswer": ["text"],
    "RawFile": ["name"],
    "RawUpload": ["name"],
    "Correction": ["name"],
    "ChangedItem": ["item"],
    "GoldUpload": ["name", "version_reason"],
    "Bar": ["team_name"],
    "PastStanding": ["disqualified"],
    "ArchiveImport": ["name"],
    "Registration": ["message"],
    "TokenDetails": ["name"],
    "Teaser": ["alternative_text"],
}
"""Fields with free text from users or from their files."""
ONLY_SOME = {"retired_reason", "disqualified"}
OURS = {
    # Names and digests with checked characters, and texts of the server or the evaluator.
    *(
        "Dataset.slug",
        "Dataset.task",
        "Split.name",
        "Split.inputs_sha256",
        "PublicPrivatePartition.sha256",
        "Benchmark.slug",
    ),
    *("Benchmark.task", "Phase.slug", "Phase.time_zone", "Image.archive_sha256", "Image.reference", "Image.digest"),
    *("ImageUpload.sha256", "Prediction.sha256", "Prediction.inputs_sha256", "Prediction.error_id"),
    *("Run.error_id", "Run.outcomes_sha256", "Score.measure", "Score.slice_key", "ReleaseSlice.slice_key"),
    *("ReleaseSlice.dimensions", "Comparison.measure", "Download.name", "Download.suffix", "Download.sha256"),
    *(
        "Invitation.address",
        "Invitation.token_sha256",
        "Webhook.salt",
        "Webhook.previous_salt",
        # A header as it was sent, which only the same header of a response repeats.
        "ImageUpload.metadata",
        "RawUpload.metadata",
        "Notice.answer",
        "Profile.orcid",
        "SplitAudit.inputs_sha256",
    ),
    *("SplitAudit.code_sha256", "User.password", "User.email", "WorkerReport.queue"),
    *("Submission.track", "ReportedResult.track", "RawFile.sha256", "RawUpload.sha256", "Generation.generator"),
    *("Generation.salt", "Generation.code_sha256", "GeneratedFrom.role", "GeneratedPart.name", "GeneratedPart.sha256"),
    *("Correction.sha256", "Correction.inputs_sha256", "ChangedItem.kinds", "RankChange.measure"),
    *("GoldUpload.sha256", "GoldUpload.message", "UploadPiece.name"),
    *("Submission.idempotency_key", "Submission.idempotency_digest"),
    *("PlotPicture.plot", "PlotPicture.digest", "PlotPicture.svg", "RulesAgreement.rules_sha256"),
    *("ArchiveExport.recipients", "ArchiveExport.sha256", "ArchiveImport.sha256", "Teaser.sha256"),
}


def texts(model: type[models.Model]) -> set[str]:
    """Return the text fields without fixed choices."""
    found = [one for one in model._meta.local_fields if isinstance(one, models.CharField | models.TextField)]
    return {one.name for one in found if not one.choices}


def test_every_text_field_is_classified() -> None:
    there = {
        f"{model.__name__}.{name}"
        for model in apps.get_app_config("leaderboard").get_models()
        if model.__name__ not in IMMUTABLE
        for name in texts(model)
    }
    written = {f"{model}.{name}" for model, names in WRITTEN.items() for name in names}
    assert there == written | OURS, "a text field that is neither tested nor listed as not written by users"


def nasty(name: str, longest: int | None, key: int) -> str:
    """Return script that differs in each row, because many names are unique."""
    text = URL if name.endswith("url") or name == "contact" else NASTY
    return f"{text}{key}"[-longest:] if longest and len(text) + 4 > longest else f"{text}{key}"


def spoil() -> None:
    """Write script into every free-text field of every row without validation: only the pages are tested."""
    for model_name, names in WRITTEN.items():
        model = apps.get_model("leaderboard", model_name)
        for key, row in enumerate(model._default_manager.all(), 1):
            longest = {name: model._meta.get_field(name).max_length for name in names}
            # Fields that only some rows may have stay empty: a reason belongs to a retired split.
            filled = [name for name in names if getattr(row, name) or name not in ONLY_SOME]
            changes = {name: nasty(name, longest[name], key) for name in filled}
            model._default_manager.filter(pk=row.pk).update(**changes)


def insert_managed_rows(world: World) -> None:
    """Insert a raw file, an unfinished upload, a waiting correction and an inspected archive."""
    at, dataset, curator = timezone.now(), world.split.dataset, world.curator
    life = {"state": State.DONE, "queued_at": at, "enqueued_at": at, "finished_at": at, "attempt": 1}
    sent: dict[str, Any] = {"name": "x", "sha256": "0" * 64, "bytes": 5}
    RawFile.objects.create(dataset=dataset, file="raw/x", uploaded_by=curator, uploaded_at=at, **sent)
    RawUpload.objects.create(dataset=dataset, by=curator, **sent)
    GoldUpload.objects.create(split=world.split, version_reason="x", created_by=curator, **sent, **life)
    Bar.objects.create(benchmark=world.benchmark, team_name="x", barred_by=curator, barred_at=at)
    gold = GoldVersion.objects.get(pk=world.gold.pk)
    correction = Correction.objects.create(
        split=world.split,
        base=gold,
        file="x",
        inputs_sha256=world.split.inputs_sha256,
        created_by=curator,
        counts={"n_before": 4, "n_after": 4, "n_changed": 1, "reordered": False, "by_kind": {"answer": 1}},
        expires_at=at + timedelta(days=7),
        **sent,
        **life,
    )
    changes = [{"kind": "answer", "field": NASTY, "before": NASTY, "after": NASTY}]
    ChangedItem.objects.create(correction=correction, index=0, item="x", line=1, kinds="|answer|", changes=changes)
    head = {"format": "holdout", "version": 1, "layout": NASTY, "slug": "x", "title": NASTY, "readable": {NASTY: "0"}}
    head |= {"closed": None, "rows": {NASTY: 1}}
    ArchiveImport.objects.create(file="x", head=head, by=curator, at=at, **sent)


@pytest.fixture
def spoiled() -> dict[str, User | None]:
    """Insert users and one row of everything, all changed by `spoil`."""
    world: World = build()
    engine_is_there()
    takes_images(world)
    cross(world, label=[NASTY, "REFUTES"], origin=["generated", NASTY])
    sliced = [score("accuracy", 0.5, 1, origin=one) for one in ("generated", NASTY)]
    cells = crossed_scores({("generated", NASTY): 0.5, (NASTY, "REFUTES"): 0.7})
    for name in ("First", "Second"):
        stand(world, name, [*symmetric_scores(0.75)[:4], *sliced, *cells[4:]], warnings=(NASTY,), team=f"{name} team")
    stand(world, "Mine", symmetric_scores(0.5), warnings=(NASTY,), spent={"wall_seconds": 3.0})
    at = timezone.now()
    organiser = person("xena")
    world.benchmark.organisers.add(organiser)
    second = System.objects.get(name="Second")
    given = {"created_by": organiser, "created_at": at}
    Disqualification.objects.create(phase=world.phase, system=second, reason="x", **given)
    Standing.objects.filter(system=second).update(disqualified="x", rank=None)
    hidden = world.insert_run().prediction.submission
    HiddenSubmission.objects.create(submission=hidden, reason="x", hidden_by=organiser, hidden_at=at)
    custom_scorers.row(world, reason=NASTY)
    Announcement.objects.create(benchmark=world.benchmark, title="x", text="x", **given)
    Extension.objects.create(phase=world.phase, before=at, closes_at=at + timedelta(days=9), reason="x", **given)
    type(world.phase).objects.update(closes_at=at + timedelta(days=9))
    ReportedResult.objects.create(
        benchmark=world.benchmark,
        system="x",
        paper="x",
        table="x",
        split="x",
        values=[{**score("accuracy", 0.9), "shown": NASTY}],
    )
    Registration.objects.create(
        benchmark=world.benchmark, team=world.system.team, message="x", requested_by=world.researcher, requested_at=at
    )
    TokenDetails.objects.create(token=AuthToken.objects.create(user=world.researcher)[0], name="x")
    System.objects.update(former_names=[{"name": NASTY, "until": "2026-01-01"}], facts={"size": NASTY})
    type(world.benchmark).objects.update(facts=[{"name": "size", "title": NASTY, "kind": "text"}])
    ImageUpload.objects.create(phase=world.phase, by=world.researcher, name="x", bytes=5)
    Profile.objects.create(user=world.researcher, is_public=True, name="x", affiliation="x", url="https://x.example/")
    Webhook.objects.create(user=world.researcher, url="https://x.example/", created_at=at)
    picture = ContentFile(png("red"), name="x.png")
    Teaser.objects.create(
        benchmark=world.benchmark,
        file=picture,
        media_type="image/png",
        sha256="0" * 64,
        bytes=picture.size,
        width=40,
        height=30,
        alternative_text="x",
    )
    file = Download(dataset=world.split.dataset, name="pages", title="x", suffix=".txt", sha256="0" * 64, bytes=5)
    file.file.save("pages.txt", ContentFile(b"pages"))
    assert Leaderboard.objects.count() == 1 and GoldVersion.objects.count() == 2
    dates = {"published_at": at, "retired_at": at}
    Split.objects.create(
        dataset=world.split.dataset, name="old", kind="dev", state="retired", retired_reason="x", **dates
    )
    insert_managed_rows(world)
    spoil()
    return {"anonymous": None, "A": world.researcher, "X": organiser, "curator": world.curator}


STARTS = ["/", "/benchmarks/tiny/", "/benchmarks/tiny/test/", "/me/submissions/", "/me/teams/", "/me/notifications/"]
STARTS += ["/manage/", "/manage/benchmarks/tiny/"]
STARTS += [f"/benchmarks/tiny/test/{page}/" for page in ("submit", "submit-image")]


@pytest.mark.parametrize("role", ["anonymous", "A", "X", "curator"])
def test_stored_text_never_runs_as_script(
    chromium: Browser, live_server: Any, spoiled: dict[str, Any], role: str
) -> None:
    client = Client()
    if spoiled[role] is not None:
        client.force_login(User.objects.get(pk=spoiled[role].pk))
    pages = [
        answer.address
        for answer in crawl(client, STARTS)
        if answer.status == 200 and b"text/html" in answer.text and "/accounts/" not in answer.address
    ]
    watch, taken, shown = Watch(), [], 0
    with chromium.new_context(base_url=live_server.url) as context:
        if spoiled[role] is not None:
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            host = urlsplit(live_server.url).hostname
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "domain": host, "path": "/"}])
        page = context.new_page()
        watch.follow(page)
        for address in pages:
            page.goto(address)
            if page.evaluate("typeof taken !== 'undefined'"):
                taken.append(address)
            if page.locator("img[src=x], svg[onload], [onerror], a[href^='javascript:' i]").count():
                taken.append(f"{address}: an element of it")
            shown += "<script>taken=1" in page.locator("body").inner_text()
    assert taken == [] and watch.faults == []
    assert len(pages) > 20 and shown > 10, "the pages show the script as text"
    if role == "curator":
        told = " ".join(pages)
        assert all(part in told for part in ("/new-split/", "/correction", "/archives/")), told
