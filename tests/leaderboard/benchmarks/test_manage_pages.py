"""What curators and organisers do on pages: make a benchmark, add splits and phases, correct gold, look at it."""

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
from leaderboard.rehearsals import actions
from tests.leaderboard.submissions.test_people_pages import text
from tests.support import tiny_world
from tests.support.tiny_world import World

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
    """Of a benchmark of their own, not of Tiny."""
    user = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    dataset = Dataset.objects.create(slug="other", title="Other", task=tiny_world.TASK)
    other = Benchmark.objects.create(slug="other", title="Other", task=tiny_world.TASK, dataset=dataset)
    other.organisers.add(user)
    return client_of(user)


def gold(lines: bytes, **fields: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("gold.jsonl", lines), **fields}


def split_form(lines: bytes, **changes: Any) -> dict[str, Any]:
    return gold(lines, **{"name": "fold-4", "kind": "test", "options": "", **changes})


def test_a_benchmark_from_nothing_to_the_public(here: World, curator: Client) -> None:
    made = curator.post("/manage/create/", NEW)
    assert made["Location"] == "/manage/benchmarks/sums/"
    desk = "/manage/benchmarks/sums/"
    early = curator.post(f"{desk}publish/")
    assert early.status_code == 409
    assert "no split yet; create one first" in text(early)
    assert "so add a split first" in text(curator.get(desk))
    # The desk leads there once a split is there; whoever types the address is told.
    assert "there is no such split yet" in text(curator.get(f"{desk}phases/create/"))
    added = curator.post(f"{desk}splits/create/", split_form(tiny_world.gold_lines()))
    assert added["Location"] == f"{desk}splits/fold-4/gold/"
    split = Split.objects.get(name="fold-4")
    assert "no phase yet; add one first" in text(curator.post(f"{desk}publish/"))
    assert "there is no such split yet" not in text(curator.get(f"{desk}phases/create/"))
    phase = {"title": "Final", "slug": "final", "split": split.pk, "options": "max_evidence=5\n", "quota_per_day": 3}
    phase |= {"takes_predictions": "on", **tiny_world.TOLD_IN_FULL}
    curator.post(f"{desk}phases/create/", {**phase, "quota_total": 30, "opens_at": "2026-01-01T00:00"})
    stored = Phase.objects.get(slug="final")
    assert stored.options == {"max_evidence": "5"}
    assert stored.opens_at is not None and stored.opens_at.isoformat() == "2026-01-01T00:00:00+00:00"
    assert Client().get("/benchmarks/sums/").status_code == 404
    assert "fold-4 is a draft" in text(curator.post(f"{desk}publish/"))
    lifecycle.publish_unaudited(split=split, by=here.curator)
    assert curator.post(f"{desk}publish/").status_code == 302
    assert Client().get("/benchmarks/sums/").status_code == 200
    acts = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"benchmark.created", "split.created", "gold.added", "phase.created", "benchmark.published"} <= acts


def test_bad_gold_comes_back_with_its_lines_and_leaves_no_split(here: World, curator: Client) -> None:
    lines = tiny_world.gold_lines().replace(b'"label": "REFUTES"', b'"label": "NEVER"', 1)
    response = curator.post(f"{DESK}splits/create/", split_form(lines))
    assert response.status_code == 422
    assert "gold.jsonl</bdi>:2" in text(response)
    assert not Split.objects.filter(name="fold-4").exists()
    assert list(Split.gold_versions.rel.related_model.objects.values_list("split__name", flat=True)) == ["test"]


def test_what_is_public_of_a_split_shows_no_answers(here: World, curator: Client) -> None:
    curator.post(f"{DESK}splits/create/", split_form(tiny_world.gold_lines()))
    page = text(curator.get(f"{DESK}splits/fold-4/gold/"))
    assert "evidence 1" in page
    assert "SUPPORTS" not in page.split("Public inputs")[1]


def test_reading_gold_is_for_curators_and_leaves_a_trace(here: World, curator: Client) -> None:
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


def test_organisers_manage_their_own_and_no_others(here: World, organiser: Client) -> None:
    assert "Other" in text(organiser.get("/manage/"))
    assert "Tiny" not in text(organiser.get("/manage/"))
    assert organiser.get("/manage/benchmarks/other/").status_code == 200
    assert organiser.get("/manage/create/").status_code == 404
    pages = ["", "phases/create/", "splits/create/", "splits/test/gold/", "splits/test/gold/1/"]
    assert [organiser.get(DESK + page).status_code for page in pages] == [404] * len(pages)
    posts = ["publish/", "phases/create/", "splits/create/", "splits/test/gold/"]
    assert [organiser.post(DESK + page).status_code for page in posts] == [404] * len(posts)


def test_the_desk_is_not_there_for_researchers(here: World) -> None:
    ada = client_of(here.researcher)
    assert ada.get("/manage/").status_code == 404
    assert "Manage" not in text(ada.get("/"))
    assert Client().get("/manage/")["Location"] == "/accounts/login/?next=/manage/"


def test_an_organiser_adds_a_split_to_their_own(here: World, organiser: Client) -> None:
    added = organiser.post("/manage/benchmarks/other/splits/create/", split_form(tiny_world.gold_lines()))
    assert added["Location"] == "/manage/benchmarks/other/splits/fold-4/gold/"


@pytest.mark.parametrize("options", ["max_evidence", "=5", "max_evidence=5\nmax_evidence=1", "nonsense=1"])
def test_bad_options_are_said(here: World, curator: Client, options: str) -> None:
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


def test_a_phase_on_a_split_of_elsewhere_is_refused(here: World, organiser: Client) -> None:
    form = {"title": "F", "slug": "f", "split": here.split.pk, "quota_per_day": 1, "quota_total": 1, "options": ""}
    form |= {"takes_predictions": "on", **tiny_world.TOLD_IN_FULL}
    assert organiser.post("/manage/benchmarks/other/phases/create/", form).status_code == 422
    assert Phase.objects.count() == 1


def test_admin_shows_gold_and_scores_as_facts_alone(here: World) -> None:
    here.insert_run()
    root = client_of(User.objects.create_superuser("root", "root@holdout.example", "correct horse"))
    for name in ("goldversion", "release", "auditentry", "score", "run", "prediction", "submission", "split"):
        listed = root.get(f"/admin/leaderboard/{name}/")
        assert listed.status_code == 200
        assert root.get(f"/admin/leaderboard/{name}/add/").status_code == 403
    page = text(root.get(f"/admin/leaderboard/goldversion/{here.gold.pk}/change/"))
    assert here.gold.sha256 in page
    assert here.gold.file.name not in page
    assert 'name="_save"' not in page
    changed = root.post(f"/admin/leaderboard/goldversion/{here.gold.pk}/change/", {"reason": "mine"})
    assert changed.status_code == 403


def test_admins_log_in_where_everybody_does(client: Client) -> None:
    response = client.get("/admin/login/?next=/admin/")
    assert response["Location"].startswith("/accounts/login/")


# --- what stays hidden


def test_hidden_is_what_gold_has_over_the_inputs() -> None:
    whole = json.loads(tiny_world.gold_lines().splitlines()[0])
    known = {key: whole[key] for key in ("id", "claim", "evidence_text")}
    assert hidden(whole, known) == {"label": "SUPPORTS", "group": "g1", "slices": {"origin": "original"}}


def test_hidden_looks_into_nested_lists() -> None:
    whole = {
        "documentId": "1",
        "passages": [{"passageId": "1:0:4", "facts": [{"propertyId": "2"}]}, {"passageId": "b"}],
    }
    known = {"documentId": "1", "passages": [{"passageId": "1:0:4"}, {"passageId": "b"}]}
    assert hidden(whole, known) == {"passages": [{"facts": [{"propertyId": "2"}]}, {}]}
    assert hidden(known, known) == {}


def test_publish_is_offered_once_nothing_is_in_the_way(here: World, curator: Client) -> None:
    Benchmark.objects.update(state="draft")
    Split.objects.update(**tiny_world.DRAFT)
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' not in page and "Not yet: The split test is a draft; publish it first." in page
    assert "Create a split from raw files" in page and "Add a split from a gold file" in page
    Split.objects.update(**tiny_world.published())
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' in page and "Not yet" not in page
    Phase.objects.all().delete()
    page = text(curator.get(DESK))
    assert f'action="{DESK}publish/"' not in page and "Not yet: The benchmark has no phase yet" in page


def test_a_phase_that_has_opened_is_not_offered_to_be_rehearsed(here: World, curator: Client) -> None:
    where = f"{DESK}phases/test/rehearsal/"
    assert where not in text(curator.get(DESK))
    soon = timezone.now() + timedelta(hours=1)
    Phase.objects.update(opens_at=soon)
    phase = Phase.objects.get()
    assert "Rehearse<" in text(curator.get(DESK)) and where in text(curator.get(DESK))
    begun = actions.begin(phase=phase, testers=[], ends_at=None, by=here.curator)
    actions.end(rehearsal=begun, by=here.curator)
    Phase.objects.filter(pk=phase.pk).update(opens_at=None)
    assert "Rehearsals<" in text(curator.get(DESK)), "those that are over stay to be found"
