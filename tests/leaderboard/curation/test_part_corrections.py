"""Gold that a generator made is corrected by its raw file: the mended one previewed, a part used as a correction."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.core.refusal import Code
from leaderboard.curation.actions import (
    correct_by_preview,
    drafts,
    request_preview,
    run_generator,
)
from leaderboard.curation.actions.drafts import DraftRequest
from leaderboard.datasets.actions import corrections, gold_diffs, lifecycle
from leaderboard.models import AuditEntry, Correction, Generation, RawFile, Split, State
from leaderboard.work_queue import enqueue
from tests.support import generator_previews
from tests.support.gold_uploads import close_all, refusal
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db(transaction=True)
SYMMETRIC = {"generator": "published-symmetric", "parameters": {}, "role": "published"}
HELD_OUT = {"generator": "holdout", "parameters": {"parts": "rest=0.5,final=0.5", "by": "group"}, "role": "gold"}
FOLDS = {"generator": "folds", "parameters": {"by": "id", "folds": "2", "parts": "rest=2,final=1"}, "role": "gold"}
WAYS = pytest.mark.parametrize("way", [SYMMETRIC, HELD_OUT, FOLDS], ids=["salted", "seeded", "unseeded"])


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def symmetric(swapped: bool = False) -> bytes:
    """A quadruple as FEVER Symmetric is published; the labels swapped, it is symmetric still."""
    members = ((1, 1, "SUPPORTS"), (1, 2, "REFUTES"), (2, 1, "REFUTES"), (2, 2, "SUPPORTS"))
    other = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    lines = (
        {
            "id": f"9{'' if i == 0 else f'000000{i + 1}'}",
            "claim": f"c{claim}",
            "evidence_sentence": f"e{sentence}",
            "label": other[label] if swapped else label,
        }
        for i, (claim, sentence, label) in enumerate(members)
    )
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def raws(way: dict[str, Any]) -> tuple[bytes, bytes]:
    """A raw file, and the same mended."""
    if way is SYMMETRIC:
        return symmetric(), symmetric(swapped=True)
    return generator_previews.claims(), generator_previews.claims().replace(b'"SUPPORTS"', b'"REFUTES"')


def previewed(world: World, way: dict[str, Any], file: RawFile, seed: int | None = 7, **parameters: str) -> Generation:
    made = request_preview.begin(
        dataset=world.split.dataset,
        generator=way["generator"],
        sources={way["role"]: [file]},
        parameters=way["parameters"] | parameters,
        options={},
        seed=seed,
        by=world.curator,
    )
    run_generator.WORK.run(made.pk)
    made.refresh_from_db()
    assert made.state == State.DONE
    return made


def published(world: World, way: dict[str, Any], **parameters: str) -> Split:
    """A split `final` that the generator made of the raw file, and that is out."""
    made = previewed(world, way, generator_previews.raw(world, raws(way)[0]), **parameters)
    part = made.parts.order_by("index").last()
    assert part is not None
    (split,) = drafts.make(
        generation=made, requests=[DraftRequest(part, name="final", kind="test", gold_public=False)], by=world.curator
    )
    return lifecycle.publish_unaudited(split=split, by=world.curator)


def mended(world: World, way: dict[str, Any], **changes: Any) -> Generation:
    return previewed(world, way, generator_previews.raw(world, raws(way)[1], "mended.jsonl"), **changes)


def proposed(world: World, preview: Generation, split: Split) -> Correction:
    ((part, found),) = correct_by_preview.correctable_splits(preview)
    assert found == split
    made = correct_by_preview.propose(generation=preview, part=part, split=split, by=world.curator)
    gold_diffs.WORK.run(made.pk)
    made.refresh_from_db()
    return made


def labels_of(split: Split) -> dict[str, str]:
    gold = split.current_gold
    assert gold is not None
    with gold.file.open("rb") as file:
        return {line["id"]: line["label"] for line in map(json.loads, file)}


@WAYS
def test_a_mended_raw_file_corrects_the_split_that_was_made_of_it(world: World, way: dict[str, Any]) -> None:
    split = published(world, way)
    before = labels_of(split)
    found = proposed(world, mended(world, way, seed=None if way is FOLDS else 7), split)
    kinds = {name: n for name, n in found.counts["by_kind"].items() if n}
    assert set(kinds) == {"answer"} and not found.changes_inputs
    assert labels_of(split) == before, "nothing counts before it is confirmed"
    gold = corrections.confirm(correction=found, reason="labels were wrong", publishes_count=False, by=world.curator)
    assert gold.number == 2
    after = labels_of(Split.objects.get(pk=split.pk))
    assert set(after) == set(before)
    assert sum(after[one] != before[one] for one in before) == kinds["answer"]
    entry = AuditEntry.objects.get(action="generation.corrects")
    assert entry.detail["split"] == "final" and entry.detail["sha256"] == gold.sha256


@pytest.mark.parametrize(
    "changes", [{"seed": 8}, {"parts": "rest=0.25,final=0.75"}, {"by": "id"}], ids=["seed", "shares", "groups"]
)
def test_what_was_drawn_otherwise_corrects_nothing(world: World, changes: dict[str, Any]) -> None:
    split = published(world, HELD_OUT)
    preview = mended(world, HELD_OUT, **changes)
    assert correct_by_preview.correctable_splits(preview) == []
    for part in preview.parts.all():
        given = {"generation": preview, "part": part, "split": split, "by": world.curator}
        assert refusal(correct_by_preview.propose, **given).code is Code.NOT_READY
    assert not Correction.objects.exists()


def test_a_part_corrects_the_split_of_its_own_name_alone(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = mended(world, HELD_OUT)
    assert [(part.name, one.name) for part, one in correct_by_preview.correctable_splits(preview)] == [
        ("final", "final")
    ]
    rest = preview.parts.get(name="rest")
    refused = refusal(correct_by_preview.propose, generation=preview, part=rest, split=split, by=world.curator)
    assert refused.code is Code.NOT_READY and "rest" in refused.message


def test_lines_that_move_between_parts_are_shown_and_cannot_be_confirmed(world: World) -> None:
    split = published(world, HELD_OUT)
    more = generator_previews.raw(world, generator_previews.claims(16), "more.jsonl")
    found = proposed(world, previewed(world, HELD_OUT, more), split)
    assert found.changes_inputs and found.counts["by_kind"]["added"]
    refused = refusal(corrections.confirm, correction=found, reason="more", publishes_count=False, by=world.curator)
    assert refused.code is Code.INPUTS_CHANGED


def test_drafts_are_not_corrected_so(world: World) -> None:
    split = published(world, HELD_OUT)
    Split.objects.filter(pk=split.pk).update(state="draft", published_at=None)
    assert correct_by_preview.correctable_splits(mended(world, HELD_OUT)) == []


def test_a_part_that_comes_out_otherwise_corrects_nothing(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = mended(world, HELD_OUT)
    with Path(preview.sources.get().raw.file.path).open("ab") as stored:
        stored.write(b" ")
    part = preview.parts.get(name="final")
    refused = refusal(correct_by_preview.propose, generation=preview, part=part, split=split, by=world.curator)
    assert refused.code is Code.NOT_READY and "altered" in refused.message
    assert not Correction.objects.exists()


def test_strangers_correct_nothing(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = mended(world, HELD_OUT)
    given = {"generation": preview, "part": preview.parts.get(name="final"), "split": split}
    assert refusal(correct_by_preview.propose, **given, by=world.researcher).code is Code.NOT_AN_ORGANISER


def at(name: str, *more: Any) -> str:
    return reverse(name, args=["tiny", *more])


def words(response: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def test_from_the_page_of_the_gold_to_the_correction(world: World) -> None:
    split = published(world, HELD_OUT)
    client = Client()
    client.force_login(world.curator)
    gold = client.get(at("manage_gold", split.name))
    assert "was made by a generator" in words(gold)
    assert "press Use part … as a correction of final" in words(gold), "as the button of the preview below reads"
    assert "made by a generator" not in words(client.get(at("manage_gold", world.split.name)))
    (again,) = re.findall(r'href="([^"]+\?again=\d+)"', gold.content.decode())
    form = client.get(again)
    filled = form.content.decode()
    assert 'value="rest=0.5,final=0.5"' in filled and 'name="seed" value="7"' in filled
    assert "parameters with which final was made" in words(form)
    raw = generator_previews.raw(world, raws(HELD_OUT)[1])
    named = re.findall(r"<option[^>]*>(raw\.jsonl[^<]*)<", client.get(again).content.decode())
    assert len(set(named)) == 2, "two files of one name can be told apart"
    asked = {"source_gold": raw.pk, "parameter_parts": "rest=0.5,final=0.5", "parameter_by": "group", "seed": "7"}
    assert client.post(again, asked).status_code == 302
    preview = Generation.objects.latest("pk")
    run_generator.WORK.run(preview.pk)
    page = client.get(at("manage_preview", preview.pk))
    assert "Use part final as a correction of final" in words(page)
    place = preview.parts.get(name="final").index
    answer = client.post(at("manage_preview_correct", preview.pk), {"part": place, "split": "final"})
    correction = Correction.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, at("manage_correction", "final", correction.pk))
    gold_diffs.WORK.run(correction.pk)
    assert "changed answer" in words(client.get(answer["Location"]))
    other = preview.parts.exclude(name="final").get().index
    wrong = client.post(at("manage_preview_correct", preview.pk), {"part": other, "split": "final"})
    assert wrong.status_code == 409 and "cannot correct the split" in words(wrong)
    for part in ("", "x", "99", "²"):
        assert (
            client.post(at("manage_preview_correct", preview.pk), {"part": part, "split": "final"}).status_code == 404
        )
