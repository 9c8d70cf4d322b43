"""Management pages for curators and organisers: create a benchmark, add splits and phases, correct and view gold."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.datasets.actions import lifecycle
from leaderboard.datasets.web.first_lines import hidden
from leaderboard.models import AuditEntry, Benchmark, Dataset, Phase, Split, User
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import tiny_world
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db
DESK = "/manage/benchmarks/tiny/"
NEW = {"title": "Sums", "slug": "sums", "task": tiny_world.TASK, "summary": "Claims about sums.", "licence": "CC0-1.0"}


@pytest.fixture
def here(sandbox: str) -> World:
    return tiny_world.build()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def curator(here: World) -> Client:
    return client_of(here.curator)


@pytest.fixture
def organiser(here: World) -> Client:
    """Organiser of a benchmark of their own, not of Tiny."""
    user = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    dataset = Dataset.objects.create(slug="other", title="Other", task=tiny_world.TASK)
    other = Benchmark.objects.create(slug="other", title="Other", task=tiny_world.TASK, dataset=dataset)
    other.organisers.add(user)
    return client_of(user)


def gold(lines: bytes, **fields: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("gold.jsonl", lines), **fields}


def split_form(lines: bytes, **changes: Any) -> dict[str, Any]:
    return gold(lines, **{"name": "fold-4", "kind": "test", "options": "", **changes})


def test_a_benchmark_is_created_from_scratch_and_published(here: World, curator: Client) -> None:
    response = curator.post("/manage/create/", NEW)
    assert response["Location"] == "/manage/benchmarks/sums/"
    manage_page = "/manage/benchmarks/sums/"
    early = curator.post(f"{manage_page}publish/")
    assert early.status_code == 409
    assert "no split yet; create one first" in text(early)
    assert "so add a split first" in text(curator.get(manage_page))
    # The management page links there once there is a split; before, the address itself explains what is missing.
    assert "there is no such split yet" in text(curator.get(f"{manage_page}phases/create/"))
    added = curator.post(f"{manage_page}splits/create/", split_form(tiny_world.gold_lines()))
    assert added["Location"] == f"{manage_page}splits/fold-4/gold/"
    split = Split.objects.get(name="fold-4")
    assert "no phase yet; add one first" in text(curator.post(f"{manage_page}publish/"))
    assert "there is no such split yet" not in text(curator.get(f"{manage_page}phases/create/"))
    phase = {"title": "Final", "slug": "final", "split": split.pk, "options": "max_evidence=5\n", "quota_per_day": 3}
    phase |= {"takes_predictions": "on", **tiny_world.TOLD_IN_FULL}
    curator.post(f"{manage_page}phases/create/", {**phase, "quota_total": 30, "opens_at": "2026-01-01T00:00"})
    stored = Phase.objects.get(slug="final")
    assert stored.options == {"max_evidence": "5"}
    assert stored.opens_at is not None and stored.opens_at.isoformat() == "2026-01-01T00:00:00+00:00"
    assert Client().get("/benchmarks/sums/").status_code == 404
    assert "fold-4 is a draft" in text(curator.post(f"{manage_page}publish/"))
    lifecycle.publish_unaudited(split=split, by=here.curator)
    assert curator.post(f"{manage_page}publish/").status_code == 302
    assert Client().get("/benchmarks/sums/").status_code == 200
    acts = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"benchmark.created", "split.created", "gold.added", "phase.created", "benchmark.published"} <= acts


def test_bad_gold_is_reported_by_line_and_leaves_no_split(here: World, curator: Client) -> None:
    lines = tiny_world.gold_lines().replace(b'"label": "REFUTES"', b'"label": "NEVER"', 1)
    response = curator.post(f"{DESK}splits/create/", split_form(lines))
    assert response.status_code == 422
    assert "gold.jsonl</bdi>:2" in text(response)
    assert not Split.objects.filter(name="fold-4").exists()
    assert list(Split.gold_versions.rel.related_model.objects.values_list("split__name", flat=True)) == ["test"]


def test_public_data_of_a_split_shows_no_answers(here: World, curator: Client) -> None:
    curator.post(f"{DESK}splits/create/", split_form(tiny_world.gold_lines()))
    page = text(curator.get(f"{DESK}splits/fold-4/gold/"))
    assert "evidence 1" in page
    assert "SUPPORTS" not in page.split("Public inputs")[1]


def test_only_curators_read_gold_and_reading_is_recorded(here: World, curator: Client) -> None:
    address = f"{DESK}splits/test/gold/1/"
    response = curator.get(address)
    for public, kept_back in response.context["pairs"]:
        assert json.loads(kept_back)["label"] == tiny_world.LABELS[json.loads(public)["id"]]
    assert "&quot;label&quot;: &quot;SUPPORTS&quot;" in text(response)
    entry = AuditEntry.objects.get(action="gold.read")
    assert entry.actor == here.curator
    assert entry.subject == f"goldversion:{here.gold.pk}"
    reader = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    here.benchmark.organisers.add(reader)
    assert client_of(reader).get(address).status_code == 404
    assert AuditEntry.objects.filter(action="gold.read").count() == 1


def test_the_list_has_an_organisers_own_benchmarks(here: World, organiser: Client) -> None:
    page = text(organiser.get("/manage/"))
    assert "Other" in page and "Tiny" not in page


def test_an_operator_is_led_to_the_operations_page(here: World) -> None:
    User.objects.filter(pk=here.researcher.pk).update(is_staff=True)
    operator = client_of(User.objects.get(pk=here.researcher.pk))
    assert 'href="/manage/"' in operator.get("/").content.decode()
    assert 'href="/manage/operations/"' in operator.get("/manage/").content.decode()
    assert 'href="/manage/"' not in Client().get("/").content.decode()


def test_a_phase_that_never_closes_has_no_form_to_extend_it(here: World, curator: Client) -> None:
    url = f"/manage/benchmarks/tiny/phases/{here.phase.slug}/deadline/"
    Phase.objects.filter(pk=here.phase.pk).update(closes_at=None)
    page = curator.get(url).content.decode()
    assert "there is no deadline to extend" in page and "Extend</button>" not in page
    Phase.objects.filter(pk=here.phase.pk).update(closes_at=timezone.now() + timedelta(days=1))
    assert "Extend</button>" in curator.get(url).content.decode()


def test_an_organiser_adds_a_split_to_their_own_benchmark(here: World, organiser: Client) -> None:
    added = organiser.post("/manage/benchmarks/other/splits/create/", split_form(tiny_world.gold_lines()))
    assert added["Location"] == "/manage/benchmarks/other/splits/fold-4/gold/"


@pytest.mark.parametrize("options", ["max_evidence", "=5", "max_evidence=5\nmax_evidence=1", "nonsense=1"])
def test_bad_options_are_reported(here: World, curator: Client, options: str) -> None:
    form = {
        "title": "F",
        "slug": "f",
        "split": here.split.pk,
        "quota_per_day": 1,
        "quota_total": 1,
        "takes_predictions": "on",
        **tiny_world.TOLD_IN_FULL,
    }
    response = curator.post(f"{DESK}phases/create/", {**form, "options": options})
    assert response.status_code == 422
    assert Phase.objects.count() == 1


def test_a_phase_on_a_split_of_another_benchmark_is_refused(here: World, organiser: Client) -> None:
    form = {"title": "F", "slug": "f", "split": here.split.pk, "quota_per_day": 1, "quota_total": 1, "options": ""}
    form |= {"takes_predictions": "on", **tiny_world.TOLD_IN_FULL}
    assert organiser.post("/manage/benchmarks/other/phases/create/", form).status_code == 422
    assert Phase.objects.count() == 1


def test_admin_shows_gold_and_scores_read_only(here: World) -> None:
    here.insert_run()
    root = client_of(User.objects.create_superuser("root", "root@holdout.example", "correct horse"))
    page = text(root.get(f"/admin/leaderboard/goldversion/{here.gold.pk}/change/"))
    assert here.gold.sha256 in page
    assert here.gold.file.name not in page
    assert 'name="_save"' not in page
    changed = root.post(f"/admin/leaderboard/goldversion/{here.gold.pk}/change/", {"reason": "mine"})
    assert changed.status_code == 403


def test_admin_uses_the_sites_log_in_page(client: Client) -> None:
    response = client.get("/admin/login/?next=/admin/")
    assert response["Location"].startswith("/accounts/login/")


# --- hidden fields


def test_hidden_fields_are_those_that_gold_has_and_inputs_lack() -> None:
    gold_line = json.loads(tiny_world.gold_lines().splitlines()[0])
    known = {key: gold_line[key] for key in ("id", "claim", "evidence_text")}
    assert hidden(gold_line, known) == {"label": "SUPPORTS", "group": "g1", "slices": {"origin": "original"}}


def test_hidden_fields_inside_nested_lists_are_found() -> None:
    gold_line = {
        "documentId": "1",
        "passages": [{"passageId": "1:0:4", "facts": [{"propertyId": "2"}]}, {"passageId": "b"}],
    }
    known = {"documentId": "1", "passages": [{"passageId": "1:0:4"}, {"passageId": "b"}]}
    assert hidden(gold_line, known) == {"passages": [{"facts": [{"propertyId": "2"}]}, {}]}
    assert hidden(known, known) == {}


def test_publish_is_offered_once_nothing_blocks_it(here: World, curator: Client) -> None:
    Benchmark.objects.update(state="draft")
    Split.objects.update(**tiny_world.DRAFT)
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' not in page
    assert "It cannot be published yet. The split test is a draft; publish it first." in page
    assert "Create a split from raw files" in page and "Add a split from a gold file" in page
    Split.objects.update(**tiny_world.published())
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' in page and "cannot be published yet" not in page
    Phase.objects.all().delete()
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' not in page
    assert "It cannot be published yet. The benchmark has no phase yet" in page
