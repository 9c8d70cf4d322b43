"""The page to submit a file: problems of a refused file, checks, files sent before, and the choice of a system."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Dataset,
    GoldVersion,
    Phase,
    QuotaCharge,
    Split,
    Submission,
    System,
    User,
)
from tests.leaderboard.submissions.test_people_pages import SUBMIT, form, text
from tests.support.rows import tiny_world
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


world, _django_db_helper = shared_states(world=tiny_world.build)


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.researcher)
    return client


def test_equal_problems_are_grouped_and_the_form_stays_on_the_page(world: World, ada: Client) -> None:
    labels = {f"n{number}": "SUPPORTS" for number in range(481)}
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(labels).replace(b"predicted_label", b"label")))
    page = text(response)
    assert page.count("predicted_label is missing") == 1 and "481 lines:" in page and "rename &quot;label&quot;" in page
    assert "Lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..." in page and "more problem" not in page
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(labels)))
    page = text(response)
    assert "481 lines:" in page and page.count("unknown id") == 1
    shown, _, folded = page.partition("More of these lines")
    assert "line 10:" in shown and "line 11:" not in shown and "line 99:" in folded and 'type="file"' in folded


def other_split(world: World, **fields: Any) -> Split:
    """Insert a split of the dataset with four other ids."""
    labels = {f"d{number}": "SUPPORTS" for number in range(4)}
    split = Split(dataset=world.split.dataset, name="dev", kind=Split.Kind.DEV, **{**tiny_world.published(), **fields})
    gold, inputs = tiny_world.gold_lines(labels), b""
    for line in gold.splitlines():
        row = json.loads(line)
        inputs += json.dumps({name: row[name] for name in ("id", "claim", "evidence_text")}).encode() + b"\n"
    split.inputs_sha256 = hashlib.sha256(inputs).hexdigest()
    split.inputs.save("inputs.jsonl", ContentFile(inputs), save=False)
    split.save()
    version = GoldVersion.objects.get(pk=world.gold.pk)
    version.pk, version.split, version._state.adding = None, split, True
    version.sha256 = hashlib.sha256(gold).hexdigest()
    version.file = ContentFile(gold, "gold.jsonl")
    version.save()
    return split


@pytest.mark.parametrize(
    ("fields", "is_named"), [({}, True), ({"inputs_public": False}, False), (tiny_world.DRAFT, False)]
)
def test_the_ids_of_another_split_are_recognised_if_its_inputs_are_public(
    world: World, ada: Client, fields: dict[str, Any], is_named: bool
) -> None:
    other_split(world, **fields)
    labels = {f"d{number}": "SUPPORTS" for number in range(4)}
    page = text(ada.post(SUBMIT, form(tiny_world.prediction_lines(labels))))
    assert ("These are the ids of the dev split; this phase takes test." in page) is is_named
    assert ("unknown id" in page) is not is_named and "no quota was used" in page
    if not is_named:
        assert "dev split" not in page


def test_check_only_validates_without_a_submission_and_counts_its_seconds(
    world: World, ada: Client, settings: Any
) -> None:
    page = text(ada.post(SUBMIT, form(tiny_world.prediction_lines(), check="1")))
    assert "The file is valid" in page and "4 lines, no problems" in page and 'value="Pascaline"' in page
    assert "2 lines:" in text(
        ada.post(SUBMIT, form(tiny_world.prediction_lines().replace(b"SUPPORTS", b"?"), check="1"))
    )
    assert "No file was chosen" in text(ada.post(SUBMIT, {"check": "1"}))
    assert not Submission.objects.exists() and not QuotaCharge.objects.exists()
    assert not System.objects.filter(name="Pascaline").exists()
    checked = AuditEntry.objects.get(action="submission.checked")
    assert checked.actor == world.researcher and checked.detail["cpu_seconds"] > 0
    settings.REFUSED_SECONDS = 0
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(), check="1"))
    assert response.status_code == 429 and "refused and checked files" in text(response)
    settings.VALIDATE_NOW_BYTES = 0
    assert ada.post(SUBMIT, form(tiny_world.prediction_lines(), check="1")).status_code == 413


def test_check_only_is_refused_where_the_phase_is_closed(world: World, ada: Client) -> None:
    Phase.objects.update(closes_at=timezone.now())
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(), check="1"))
    assert response.status_code == 409 and not AuditEntry.objects.filter(action="submission.checked").exists()


def test_a_file_that_the_team_sent_before_needs_a_second_press(world: World, ada: Client) -> None:
    content = tiny_world.prediction_lines()
    first = world.submit()
    response = ada.post(SUBMIT, form(content))
    page = text(response)
    assert response.status_code == 409 and "You sent this file before" in page
    assert first.get_absolute_url() in page and "<bdi>Bernoulli</bdi>" in page
    assert Submission.objects.count() == QuotaCharge.objects.count() == 1
    other = tiny_world.prediction_lines({**tiny_world.LABELS, "a2": "SUPPORTS"})
    digest = hash_of()
    assert digest in page and ada.post(SUBMIT, form(content, again="no")).status_code == 409
    assert ada.post(SUBMIT, form(other)).status_code == 302
    assert ada.post(SUBMIT, form(content, again=digest)).status_code == 302
    assert Submission.objects.count() == QuotaCharge.objects.count() == 3


def test_the_same_file_of_another_team_or_a_refunded_one_is_not_pointed_out(world: World, ada: Client) -> None:
    world.submit()
    stranger = Client()
    stranger.force_login(User.objects.create_user("bob", "bob@holdout.example", "correct horse"))
    assert stranger.post(SUBMIT, form(tiny_world.prediction_lines())).status_code == 302
    QuotaCharge.objects.update(refunded_at=timezone.now())
    assert ada.post(SUBMIT, form(tiny_world.prediction_lines())).status_code == 302


def test_systems_of_the_benchmark_come_first(world: World, ada: Client) -> None:
    System.objects.create(team=world.system.team, name="Aardvark")
    assert "optgroup" not in text(ada.get(SUBMIT))
    world.submit()
    page = text(ada.get(SUBMIT))
    here, _, others = page.partition('<optgroup label="In other benchmarks">')
    assert '<optgroup label="In this benchmark">' in here and "Bernoulli (" in here and "Aardvark (" in others
    System.objects.get(name="Aardvark")
    sent = form(tiny_world.prediction_lines(), system=world.system.pk, new_system="", again=hash_of())
    assert ada.post(SUBMIT, sent).status_code == 302


def test_systems_of_other_tasks_are_not_offered(world: World, ada: Client) -> None:
    """A system that was submitted to another task only cannot be meant; one that was never submitted can."""
    names = ("Ranker", "Fresh", "Both")
    ranker, _, both = (System.objects.create(team=world.system.team, name=name) for name in names)
    dataset = Dataset.objects.create(slug="links", title="Links", task="link-prediction")
    links = Benchmark.objects.create(slug="links", title="Links", task="link-prediction", dataset=dataset)
    split = Split.objects.create(dataset=dataset, name="test")
    phase = Phase.objects.create(benchmark=links, split=split, slug="test", title="Test")
    world.submit()
    sent = Submission.objects.get()
    for system, phases in ((ranker, [phase]), (both, [phase, world.phase])):
        for to in phases:
            sent.pk, sent.system, sent.phase = None, system, to
            sent.save(force_insert=True)
    page = text(ada.get(SUBMIT))
    assert [f"{name} (" in page for name in ("Bernoulli", *names)] == [True, False, True, True]
    refused = ada.post(SUBMIT, form(tiny_world.prediction_lines(), system=ranker.pk, new_system=""))
    assert refused.status_code == 400 or "Select a valid choice" in text(refused)


def hash_of() -> str:
    return hashlib.sha256(tiny_world.prediction_lines()).hexdigest()
