"""Pages of a new split: from a raw file to drafts without a script, who sees which part, and what is recorded."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluator.curation.generators.catalog import OFFERS
from leaderboard.curation.actions import request_preview, run_generator
from leaderboard.curation.web.forms import GeneratorForm
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.datasets.web.first_lines import sampled_pairs
from leaderboard.models import AuditEntry, Generation, RawFile, Split, User
from tests.support.api_calls import person
from tests.support.crawler import crawl
from tests.support.rows import generator_previews
from tests.support.rows.gold_uploads import close_all
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
CANARY = "CANARY"


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def organiser(world: World) -> Client:
    user = person("olive")
    world.benchmark.organisers.add(user)
    return logged_in(user)


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["tiny", *arguments])


def words(response: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def preview_of(client: Client, content: bytes, generator: str = "holdout", **parameters: str) -> Generation:
    """Through the pages: uploads a raw file and submits a generator's form; then the worker runs."""
    assert client.post(url("manage_new_split"), {"file": SimpleUploadedFile("raw.jsonl", content)}).status_code == 302
    raw = RawFile.objects.latest("pk")
    form = {"source_gold": raw.pk, **{f"parameter_{name}": text for name, text in parameters.items()}}
    response = client.post(url("manage_generator", generator), form)
    assert response.status_code == 302, words(response)
    generation = Generation.objects.latest("pk")
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    return generation


def drafts_form(generation: Generation, **changes: str) -> dict[str, str]:
    form = {}
    for part in generation.parts.all():
        fields = {"take": "on", "name": part.name, "kind": "test", **changes}
        form |= {f"part-{part.index}-{name}": text for name, text in fields.items()}
    return form


@pytest.mark.usefixtures("sandbox")
def test_an_organiser_makes_a_draft_from_a_raw_file(world: World) -> None:
    client = organiser(world)
    start = client.get(url("manage_new_split"))
    assert "No raw files yet" in words(start) and "Hold out a share" in words(start)
    assert "Scenarios over a knowledge graph" not in words(start)
    generation = preview_of(
        client, generator_previews.claims(), parts="dev=0.5,final=0.5", by="group", stratify="label"
    )
    page = words(client.get(url("manage_preview", generation.pk)))
    assert "4 lines, 4 units in 4 groups" in page and "Stratify by label" in page
    assert str(generation.seed) in page and "raw.jsonl" in page
    answer = client.post(url("manage_preview_drafts", generation.pk), drafts_form(generation))
    assert (answer.status_code, answer["Location"]) == (302, url("manage_split", "final"))
    drafts = Split.objects.filter(name__in=("dev", "final"))
    assert [(split.state, split.gold_public) for split in drafts] == [("draft", False)] * 2
    life = words(client.get(url("manage_split", "final")))
    assert "Publish preview" in life and "4. Draft" in life


@pytest.mark.usefixtures("sandbox")
def test_invalid_lines_are_on_the_page_with_their_numbers(world: World) -> None:
    client = organiser(world)
    broken = generator_previews.claims().replace(b'"id": "r3"', b'"id": null')
    generation = preview_of(client, broken, parts="a=0.5,b=0.5", by="group")
    page = client.get(url("manage_preview", generation.pk))
    assert "raw.jsonl :4" in words(page) and "Make draft splits" not in words(page)
    form_page = words(client.get(url("manage_generator", "holdout") + f"?again={generation.pk}"))
    assert "Make a preview" in form_page
    filled = client.get(url("manage_generator", "holdout") + f"?again={generation.pk}").content.decode()
    assert 'value="a=0.5,b=0.5"' in filled and str(generation.seed) in filled


def test_an_invalid_form_names_the_field(world: World) -> None:
    client, raw = organiser(world), generator_previews.raw(world)
    answer = client.post(url("manage_generator", "folds"), {"source_gold": raw.pk, "parameter_folds": "0"})
    assert answer.status_code == 422 and "Number of folds" in words(answer)
    assert client.post(url("manage_generator", "holdout"), {}).status_code == 422
    assert client.get(url("manage_generator", "scenarios")).status_code == 404
    assert not Generation.objects.exists()


def test_a_form_explains_empty_fields_and_keeps_the_case_of_values(world: World) -> None:
    client = organiser(world)
    folds = words(client.get(url("manage_generator", "folds")))
    assert (
        "The key of the document. Default: id." in folds
        and "documentId" not in folds
        and "From 2 to 1000. Default: 5." in folds
    )
    shares = words(client.get(url("manage_generator", "holdout")))
    assert "Default: train=0.8,test=0.2." in shares and "Train=" not in shares and "(default: " not in shares


def test_each_view_of_a_preview_and_a_draft_is_recorded(world: World) -> None:
    client, preview = organiser(world), generator_previews.done(world)
    for n in (1, 2):
        assert client.get(url("manage_preview", preview.pk)).status_code == 200
        assert AuditEntry.objects.filter(action="generation.read").count() == n
    Split.objects.update(state="draft", published_at=None)
    page = client.get(url("manage_publish_preview", "test"))
    act = AuditEntry.objects.get(action="gold.read")
    assert act.actor is not None and act.actor.username == "olive"
    assert "REFUTES" in words(page) and "claim 0" in words(page)
    trail = words(client.get(url("manage_audit_trail")))
    assert "viewed a preview, which quotes gold" in trail and "viewed gold" in trail


def test_sample_lines_from_a_whole_split_are_shown_next_to_their_gold(world: World) -> None:
    lines = world.split.inputs.open().read().decode().splitlines()
    gold = {line["id"]: line for line in map(json.loads, world.gold.file.open().read().splitlines())}
    for limit, expected in ((2, [1, 3]), (4, [1, 2, 3, 4]), (50, [1, 2, 3, 4]), (1, [1])):
        pairs = sampled_pairs(world.split, world.gold, limit)
        assert [number for number, _, _ in pairs] == expected
        for number, public, hidden in pairs:
            assert public == lines[number - 1]
            assert json.loads(hidden)["label"] == gold[json.loads(public)["id"]]["label"]


@pytest.mark.usefixtures("sandbox")
def test_judgements_become_a_preview_that_names_what_is_left(world: World) -> None:
    client = organiser(world)
    votes = [("r0", "ann", "SUPPORTS"), ("r0", "bob", "SUPPORTS"), ("r1", "ann", "SUPPORTS"), ("r1", "bob", "REFUTES")]
    judgements = [{"id": claim, "annotator": name, "label": label} for claim, name, label in votes]
    body = "".join(json.dumps(line) + "\n" for line in judgements).encode()
    assert "Gold from judgements" in words(client.get(url("manage_new_split")))
    form = {
        "source_annotations": generator_previews.raw(world, body, "judgements.jsonl").pk,
        "source_items": generator_previews.raw(world, generator_previews.claims(2), "claims.jsonl").pk,
        "parameter_key": "label",
        "parameter_again": "100",
    }
    assert client.post(url("manage_generator", "adjudicate"), form).status_code == 302
    generation = Generation.objects.latest("pk")
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    assert (generation.state, generation.problems) == ("done", [])
    preview = words(client.get(url("manage_preview", generation.pk)))
    assert '1 item decided, 1 left to judge: "r1"' in preview and "kappa" in preview
    (part,) = generation.parts.all()
    assert (part.name, part.facts["n_units"]) == ("test", 1)


@pytest.mark.usefixtures("sandbox")
def test_a_published_split_shows_its_generator_but_not_the_seed(world: World) -> None:
    client = logged_in(world.curator)
    generation = preview_of(client, generator_previews.claims(), parts="final=0.5,rest=0.5", by="group")
    client.post(url("manage_preview_drafts", generation.pk), drafts_form(generation))
    split = Split.objects.get(name="final")
    lifecycle.publish_unaudited(split=split, by=world.curator)
    page = words(Client().get(reverse("split", args=["tiny", "final"])))
    assert "Provenance" in page and "final=0.5,rest=0.5" in page
    assert generation.sources.get().raw.sha256 in page and "version 2" in page
    for secret in (str(generation.seed), generation.salt, "raw.jsonl"):
        assert secret not in page
    assert "Provenance" not in words(Client().get(reverse("split", args=["tiny", "test"])))


@pytest.mark.usefixtures("sandbox")
def test_content_that_only_raw_files_have_is_shown_nowhere(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    client = logged_in(world.curator)
    content = generator_previews.claims().replace(b'"group": "g', f'"remark": "{CANARY}", "group": "{CANARY}-'.encode())
    generation = preview_of(client, content, parts="final=0.5,rest=0.5", by="group", stratify="label")
    client.post(url("manage_preview_drafts", generation.pk), drafts_form(generation))
    preview_of(client, content.replace(b'"label"', b'"lable"') + b"\n", parts="a=0.5,b=0.5")
    lifecycle.publish_unaudited(split=Split.objects.get(name="final"), by=world.curator)
    pks = Generation.objects.values_list("pk", flat=True)
    starts = ["/", url("benchmark"), url("manage_benchmark"), url("manage_new_split"), url("manage_audit_trail")]
    starts += [url("manage_preview", pk) for pk in pks] + ["/api/v1/", "/api/v1/benchmarks/tiny/"]
    starts += [reverse("split", args=["tiny", name]) for name in ("final", "rest")]
    hidden, pages = [], []
    for role in (None, world.researcher, world.curator):
        for answer in crawl(logged_in(role) if role else Client(), starts):
            allowed = role == world.curator and re.search(
                r"/previews/\d+/$|/preview/$|/gold/\d+/(\?format=\w+)?$", answer.address
            )
            (pages if allowed else hidden).append(answer)
    assert [answer.address for answer in hidden if CANARY.encode() in answer.text] == []
    assert len(hidden) > 60 and CANARY not in caplog.text
    assert CANARY not in json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))
    assert any(CANARY.encode() in answer.text for answer in pages), "otherwise the search proves nothing"


def test_the_state_is_polled_and_reloads_the_page(world: World) -> None:
    client, preview = organiser(world), generator_previews.done(world)
    assert client.get(url("manage_preview_state", preview.pk))["HX-Refresh"] == "true"
    Generation.objects.update(state="queued", finished_at=None)
    waiting = client.get(url("manage_preview_state", preview.pk))
    assert "HX-Refresh" not in waiting and "Waiting for a worker" in words(waiting)
    assert client.post(url("manage_preview_cancel", preview.pk)).status_code == 302
    assert "It was cancelled" in words(client.get(url("manage_preview", preview.pk)))


def test_an_expired_preview_says_so_and_an_unknown_one_is_a_404(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_preview, "MAX_PREVIEWS", 1)
    client, old = organiser(world), generator_previews.done(world)
    raw = old.sources.get().raw
    form = client.get(url("manage_generator", "as-it-is"))
    assert "A new one deletes the oldest" in words(form)
    assert url("manage_preview", old.pk) in form.content.decode()
    assert "The 1 newest previews without a split are stored" in words(client.get(url("manage_new_split")))
    assert client.post(url("manage_generator", "as-it-is"), {"source_gold": raw.pk}).status_code == 302
    expired = client.get(url("manage_preview", old.pk))
    assert expired.status_code == 410 and "This preview was deleted" in words(expired)
    assert client.get(url("manage_preview", old.pk + 99)).status_code == 404
    assert logged_in(world.researcher).get(url("manage_preview", old.pk)).status_code == 404


def test_a_running_preview_is_linked(world: World) -> None:
    client, raw = organiser(world), generator_previews.raw(world)
    for status in (302, 409):
        answer = client.post(url("manage_generator", "as-it-is"), {"source_gold": raw.pk})
        assert answer.status_code == status
    generation = Generation.objects.get()
    assert f'href="{url("manage_preview", generation.pk)}"' in answer.content.decode()


@pytest.mark.usefixtures("sandbox")
def test_existing_drafts_are_named(world: World) -> None:
    client = organiser(world)
    generation = preview_of(client, generator_previews.claims(), parts="dev=0.5,final=0.5", by="group")
    form = drafts_form(generation)
    assert client.post(url("manage_preview_drafts", generation.pk), form).status_code == 302
    second_request = client.post(url("manage_preview_drafts", generation.pk), form, follow=True)
    assert second_request.status_code == 200 and "already made from this preview: dev, final" in words(second_request)
    assert Split.objects.filter(name__in=("dev", "final")).count() == 2


def test_a_new_phase_form_preselects_the_split_of_the_link(world: World) -> None:
    client, fields = organiser(world), {"dataset": world.split.dataset, "kind": "test", "by": world.curator}
    train = splits.create_split(name="train", gold_public=True, **fields)
    Split.objects.filter(pk=world.split.pk).update(state="draft", published_at=None)
    later = splits.create_split(name="later", gold_public=False, **fields)
    for shown_split in (train, later):
        Split.objects.filter(pk=shown_split.pk).update(state="published", published_at=timezone.now())

    def offered(where: str) -> tuple[list[str], list[str]]:
        page = client.get(where).content.decode()
        (field,) = re.findall(r'<select name="split".*?</select>', page, re.DOTALL)
        return re.findall(r">([^<>]+)</option>", field), re.findall(r"selected>([^<]+)<", field)

    create = url("manage_phase_create")
    where = f"{create}?kind=full"
    assert offered(where) == (["later (test)", "train (test)", "test (test, draft)"], [])
    assert offered(where + "&split=train")[1] == ["train (test)"]
    Split.objects.filter(pk=train.pk).update(state="retired", retired_at=timezone.now(), retired_reason="x")
    assert "train (test)" not in offered(where)[0]
    Split.objects.filter(pk=world.split.pk).update(state="published", published_at=timezone.now())
    assert f'href="{create}?split=test"' in client.get(url("manage_split", "test")).content.decode()


def test_optional_raw_files_are_marked_as_optional(world: World) -> None:
    form = GeneratorForm(offer=OFFERS["scenarios"], dataset=world.split.dataset)
    is_required = {source.name: source.required for source in OFFERS["scenarios"].sources}
    for name, required in is_required.items():
        field = render_to_string("core/field.html", {"field": form[f"source_{name}"]})
        assert ("(optional)" in field) is not required, name
    assert "<legend" in render_to_string("core/field.html", {"field": form["source_apart_from"]})
