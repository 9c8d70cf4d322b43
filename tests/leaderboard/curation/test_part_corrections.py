"""Generated gold is corrected through its raw file: a preview of the corrected file, a subset used as correction."""

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
from tests.support.rows import generator_previews
from tests.support.rows.gold_uploads import close_all, refusal
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db(transaction=True)
SYMMETRIC = {"generator": "published-symmetric", "parameters": {}, "role": "published"}
HELD_OUT = {"generator": "holdout", "parameters": {"parts": "rest=0.5,final=0.5", "by": "group"}, "role": "gold"}
FOLDS = {"generator": "folds", "parameters": {"by": "id", "folds": "2", "parts": "rest=2,final=1"}, "role": "gold"}
METHODS = pytest.mark.parametrize("way", [SYMMETRIC, HELD_OUT, FOLDS], ids=["salted", "seeded", "unseeded"])


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def symmetric(swap_labels: bool = False) -> bytes:
    """A quadruple in the format of FEVER Symmetric; with swapped labels it is still symmetric."""
    members = ((1, 1, "SUPPORTS"), (1, 2, "REFUTES"), (2, 1, "REFUTES"), (2, 2, "SUPPORTS"))
    other = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    lines = (
        {
            "id": f"9{'' if i == 0 else f'000000{i + 1}'}",
            "claim": f"c{claim}",
            "evidence_sentence": f"e{sentence}",
            "label": other[label] if swap_labels else label,
        }
        for i, (claim, sentence, label) in enumerate(members)
    )
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def raw_contents(method: dict[str, Any]) -> tuple[bytes, bytes]:
    """A raw file and its corrected version."""
    if method is SYMMETRIC:
        return symmetric(), symmetric(swap_labels=True)
    return generator_previews.claims(), generator_previews.claims().replace(b'"SUPPORTS"', b'"REFUTES"')


def preview_of(
    world: World, method: dict[str, Any], file: RawFile, seed: int | None = 7, **parameters: str
) -> Generation:
    generation = request_preview.begin(
        dataset=world.split.dataset,
        generator=method["generator"],
        sources={method["role"]: [file]},
        parameters=method["parameters"] | parameters,
        options={},
        seed=seed,
        by=world.curator,
    )
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    assert generation.state == State.DONE
    return generation


def published(world: World, method: dict[str, Any], **parameters: str) -> Split:
    """A published split `final` that the generator made from the raw file."""
    preview = preview_of(world, method, generator_previews.raw(world, raw_contents(method)[0]), **parameters)
    part = preview.parts.order_by("index").last()
    assert part is not None
    (split,) = drafts.make(
        generation=preview,
        requests=[DraftRequest(part, name="final", kind="test", gold_public=False)],
        by=world.curator,
    )
    return lifecycle.publish_unaudited(split=split, by=world.curator)


def corrected_preview(world: World, method: dict[str, Any], **changes: Any) -> Generation:
    return preview_of(world, method, generator_previews.raw(world, raw_contents(method)[1], "mended.jsonl"), **changes)


def propose_correction(world: World, preview: Generation, split: Split) -> Correction:
    ((part, correctable),) = correct_by_preview.correctable_splits(preview)
    assert correctable == split
    correction = correct_by_preview.propose(generation=preview, part=part, split=split, by=world.curator)
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    return correction


def labels_of(split: Split) -> dict[str, str]:
    gold = split.current_gold
    assert gold is not None
    with gold.file.open("rb") as file:
        return {line["id"]: line["label"] for line in map(json.loads, file)}


@METHODS
def test_a_corrected_raw_file_corrects_its_split(world: World, way: dict[str, Any]) -> None:
    split = published(world, way)
    before = labels_of(split)
    correction = propose_correction(world, corrected_preview(world, way, seed=None if way is FOLDS else 7), split)
    kinds = {name: n for name, n in correction.counts["by_kind"].items() if n}
    assert set(kinds) == {"answer"} and not correction.changes_inputs
    assert labels_of(split) == before, "nothing takes effect before confirmation"
    gold = corrections.confirm(
        correction=correction, reason="labels were wrong", publishes_count=False, by=world.curator
    )
    assert gold.number == 2
    after = labels_of(Split.objects.get(pk=split.pk))
    assert set(after) == set(before)
    assert sum(after[unit] != before[unit] for unit in before) == kinds["answer"]
    entry = AuditEntry.objects.get(action="generation.corrects")
    assert entry.detail["split"] == "final" and entry.detail["sha256"] == gold.sha256


@pytest.mark.parametrize(
    "changes", [{"seed": 8}, {"parts": "rest=0.25,final=0.75"}, {"by": "id"}], ids=["seed", "shares", "groups"]
)
def test_a_preview_with_other_parameters_corrects_nothing(world: World, changes: dict[str, Any]) -> None:
    split = published(world, HELD_OUT)
    preview = corrected_preview(world, HELD_OUT, **changes)
    assert correct_by_preview.correctable_splits(preview) == []
    for part in preview.parts.all():
        fields = {"generation": preview, "part": part, "split": split, "by": world.curator}
        assert refusal(correct_by_preview.propose, **fields).code is Code.NOT_POSSIBLE
    assert not Correction.objects.exists()


def test_a_subset_corrects_only_the_split_of_its_name(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = corrected_preview(world, HELD_OUT)
    assert [(part.name, split_.name) for part, split_ in correct_by_preview.correctable_splits(preview)] == [
        ("final", "final")
    ]
    rest = preview.parts.get(name="rest")
    refused = refusal(correct_by_preview.propose, generation=preview, part=rest, split=split, by=world.curator)
    assert refused.code is Code.NOT_POSSIBLE and "rest" in refused.message


def test_lines_that_move_between_subsets_are_shown_and_block_confirmation(world: World) -> None:
    split = published(world, HELD_OUT)
    longer_file = generator_previews.raw(world, generator_previews.claims(16), "more.jsonl")
    correction = propose_correction(world, preview_of(world, HELD_OUT, longer_file), split)
    assert correction.changes_inputs and correction.counts["by_kind"]["added"]
    refused = refusal(
        corrections.confirm, correction=correction, reason="more", publishes_count=False, by=world.curator
    )
    assert refused.code is Code.INPUTS_CHANGED


def test_drafts_are_not_corrected_this_way(world: World) -> None:
    split = published(world, HELD_OUT)
    Split.objects.filter(pk=split.pk).update(state="draft", published_at=None)
    assert correct_by_preview.correctable_splits(corrected_preview(world, HELD_OUT)) == []


def test_a_subset_that_differs_from_its_preview_corrects_nothing(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = corrected_preview(world, HELD_OUT)
    with Path(preview.sources.get().raw.file.path).open("ab") as stored:
        stored.write(b" ")
    part = preview.parts.get(name="final")
    refused = refusal(correct_by_preview.propose, generation=preview, part=part, split=split, by=world.curator)
    assert refused.code is Code.CHANGED_MEANWHILE and "altered" in refused.message
    assert not Correction.objects.exists()


def test_only_managers_propose_corrections(world: World) -> None:
    split = published(world, HELD_OUT)
    preview = corrected_preview(world, HELD_OUT)
    fields = {"generation": preview, "part": preview.parts.get(name="final"), "split": split}
    assert refusal(correct_by_preview.propose, **fields, by=world.researcher).code is Code.NOT_AN_ORGANISER


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["tiny", *arguments])


def words(response: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def test_from_the_gold_page_to_the_correction(world: World) -> None:
    split = published(world, HELD_OUT)
    client = Client()
    client.force_login(world.curator)
    gold = client.get(url("manage_gold", split.name))
    assert "was made by a generator" in words(gold)
    assert "press Use part … as a correction of final" in words(gold), "as on the button of the preview below"
    assert "made by a generator" not in words(client.get(url("manage_gold", world.split.name)))
    (link,) = re.findall(r'href="([^"]+\?again=\d+)"', gold.content.decode())
    form = client.get(link)
    filled = form.content.decode()
    assert 'value="rest=0.5,final=0.5"' in filled and 'name="seed" value="7"' in filled
    assert "parameters with which final was made" in words(form)
    raw = generator_previews.raw(world, raw_contents(HELD_OUT)[1])
    options = re.findall(r"<option[^>]*>(raw\.jsonl[^<]*)<", client.get(link).content.decode())
    assert len(set(options)) == 2, "two files of one name can be distinguished"
    form_data = {"source_gold": raw.pk, "parameter_parts": "rest=0.5,final=0.5", "parameter_by": "group", "seed": "7"}
    assert client.post(link, form_data).status_code == 302
    preview = Generation.objects.latest("pk")
    run_generator.WORK.run(preview.pk)
    page = client.get(url("manage_preview", preview.pk))
    assert "Use part final as a correction of final" in words(page)
    index = preview.parts.get(name="final").index
    answer = client.post(url("manage_preview_correct", preview.pk), {"part": index, "split": "final"})
    correction = Correction.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, url("manage_correction", "final", correction.pk))
    gold_diffs.WORK.run(correction.pk)
    assert "changed answer" in words(client.get(answer["Location"]))
    other = preview.parts.exclude(name="final").get().index
    wrong = client.post(url("manage_preview_correct", preview.pk), {"part": other, "split": "final"})
    assert wrong.status_code == 409 and "cannot correct the split" in words(wrong)
    for part in ("", "x", "99", "²"):
        assert (
            client.post(url("manage_preview_correct", preview.pk), {"part": part, "split": "final"}).status_code == 404
        )
