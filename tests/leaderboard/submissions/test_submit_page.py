"""The page to submit a file: problems of a refused file."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from leaderboard.models import GoldVersion, Split
from tests.leaderboard.submissions.test_people_pages import SUBMIT, form, text
from tests.support.rows import tiny_world
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(sandbox: str) -> World:
    return tiny_world.build()


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
