"""Generators as work: asked for, made in the sandbox, taken up again, refused with lines, and drafts made of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from leaderboard.core.refusal import Code
from leaderboard.curation.actions import drafts, request_preview, run_generator
from leaderboard.curation.actions.drafts import DraftRequest
from leaderboard.datasets.actions import datasets, splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Generation, RawFile, Split, State
from leaderboard.work_queue.lease import LeaseLostError
from tests.support import generator_previews
from tests.support.gold_uploads import close_all, refusal
from tests.support.tiny_world import World, build

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
HALVES = {"parts": "train=0.5,test=0.5", "by": "group", "stratify": "label"}


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def begun(world: World, file: RawFile | None = None, **changes: Any) -> Generation:
    file = file or world.split.dataset.raw_files.first() or generator_previews.raw(world)
    asked = {
        "dataset": world.split.dataset,
        "generator": "holdout",
        "sources": {"gold": [file]},
        "parameters": HALVES,
        "options": {},
        "seed": 7,
        "by": world.curator,
    }
    return request_preview.begin(**{**asked, **changes})


def made(generation: Generation) -> Generation:
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    return generation


def ids_of(split: Split) -> list[str]:
    gold = split.current_gold
    assert gold is not None
    with gold.file.open("rb") as file:
        return [json.loads(line)["id"] for line in file]


def wanted(generation: Generation, **changes: Any) -> list[DraftRequest]:
    told = {"kind": "test", "gold_public": False, **changes}
    return [DraftRequest(part, name=f"my-{part.name}", **told) for part in generation.parts.all()]


def test_a_preview_tells_what_drafts_then_hold(world: World) -> None:
    preview = made(begun(world))
    assert (preview.state, preview.problems) == (State.DONE, [])
    parts = {part.name: part for part in preview.parts.all()}
    assert {name: part.facts["n_units"] for name, part in parts.items()} == {"train": 4, "test": 4}
    (whole, *_) = parts["test"].facts["balance"]
    assert whole["labels"] == {"REFUTES": 2, "SUPPORTS": 2}
    inputs, gold = parts["test"].first[0]
    assert "label" not in inputs and gold["label"] in whole["labels"] and inputs["id"] == gold["id"]
    splits_made = drafts.make(generation=preview, requests=wanted(preview), by=world.curator)
    assert [(one.name, one.state, one.gold_public) for one in splits_made] == [
        ("my-train", "draft", False),
        ("my-test", "draft", False),
    ]
    assert sorted(ids_of(splits_made[0]) + ids_of(splits_made[1])) == [f"r{i}" for i in range(8)]
    for split, part in zip(splits_made, parts.values(), strict=True):
        gold_version = split.current_gold
        assert gold_version is not None and gold_version.sha256 == part.sha256
        part.refresh_from_db()
        assert part.split == split and split.inputs_sha256 == part.facts["inputs_sha256"]
    again = refusal(drafts.make, generation=preview, requests=wanted(preview), by=world.curator)
    assert again.code is Code.NOT_READY


def test_the_same_gives_the_same_and_another_seed_another(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims(40))
    digests = []
    for seed in (7, 7, 8):
        digests.append([part.sha256 for part in made(begun(world, file, seed=seed)).parts.all()])
    assert digests[0] == digests[1] != digests[2]
    drawn = made(begun(world, file, seed=None))
    assert drawn.seed not in (7, 8) and drawn.state == State.DONE


def test_salted_ids_are_the_same_within_a_dataset(world: World) -> None:
    members = ((1, 1, "SUPPORTS"), (1, 2, "REFUTES"), (2, 1, "REFUTES"), (2, 2, "SUPPORTS"))
    lines = (
        {"id": f"9{'' if i == 0 else f'000000{i + 1}'}", "claim": f"c{c}", "evidence_sentence": f"e{e}", "label": label}
        for i, (c, e, label) in enumerate(members)
    )
    file = generator_previews.raw(world, "".join(json.dumps(line) + "\n" for line in lines).encode(), "published.jsonl")
    asked = {"generator": "published-symmetric", "sources": {"published": [file]}, "parameters": {}}
    first, second = (made(begun(world, **asked)) for _ in range(2))
    assert first.parts.get().sha256 == second.parts.get().sha256
    (split,) = drafts.make(generation=first, requests=wanted(first), by=world.curator)
    assert all(len(one) == 16 and one != "9" for one in ids_of(split))
    assert not any(one.startswith("9000000") for one in ids_of(split))


def test_wrong_lines_are_told_with_their_numbers(world: World) -> None:
    lines = generator_previews.claims().splitlines(keepends=True)
    lines[2] = b"{not json\n"
    lines[5] = lines[5].replace(b'"group": "g5"', b'"group": 5')
    preview = made(begun(world, generator_previews.raw(world, b"".join(lines), "broken.jsonl")))
    assert (preview.state, preview.reason) == (State.REJECTED, "bad_gold")
    assert {(one["file"], one["line"]) for one in preview.problems} == {("broken.jsonl", 3), ("broken.jsonl", 6)}
    assert not preview.parts.exists() and preview.report == {}


def test_parts_that_are_no_gold_of_the_task_are_told(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims().replace(b'"REFUTES"', b'"MAYBE"'))
    preview = made(begun(world, file, generator="as-it-is", parameters={}))
    assert preview.state == State.REJECTED
    assert [one["line"] for one in preview.problems] == [2, 4, 6, 8]


def test_lines_of_a_part_are_told_where_they_stand_in_the_raw_file(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims().replace(b'"REFUTES"', b'"MAYBE"'), "mine.jsonl")
    preview = made(begun(world, file, parameters={"parts": "a=0.5,b=0.5", "by": "group"}))
    assert preview.state == State.REJECTED
    told = {(one["file"], one["line"]) for one in preview.problems}
    assert told and told <= {("mine.jsonl", line) for line in (2, 4, 6, 8)}
    assert all(one["text"].startswith(f"mine.jsonl:{one['line']}: ") for one in preview.problems)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"generator": "scenarios"}, "no such generator"),
        ({"generator": "?"}, "no such generator"),
        ({"sources": {}}, "Gold lines"),
        ({"generator": "folds", "parameters": {"folds": "1"}}, "Number of folds"),
        ({"generator": "folds", "parameters": {"folds": "1000000000"}}, "from 2 to 1000"),
        ({"options": {"nothing": "x"}}, "nothing"),
        ({"seed": 10**18}, "seed"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(world: World, changes: dict[str, Any], told: str) -> None:
    refused = refusal(begun, world=world, **changes)
    assert refused.code is Code.INVALID_NAME and told in refused.message
    assert not Generation.objects.exists()


def test_an_emptied_field_is_what_the_form_begins_with(world: World) -> None:
    """Of fact verification, whose lines have no document; else every line would be at fault."""
    preview = made(begun(world, generator="folds", parameters={"by": " ", "folds": "2", "parts": ""}))
    assert (preview.parameters["by"], preview.problems, preview.state) == ("id", [], State.DONE)
    assert [part.name for part in preview.parts.all()] == ["fold-1", "fold-2"]


def test_a_key_that_is_there_already_is_told_without_a_flag(world: World) -> None:
    preview = made(begun(world, generator="folds", parameters={"folds": "2", "mark": "group"}))
    (problem,) = preview.problems
    assert "expected another key for the fold" in problem["text"] and "--" not in problem["text"]


def test_a_key_that_is_missing_is_told_so(world: World) -> None:
    lines = b'{"id": "12", "claim": "c", "evidence_sentence": 5}\n'
    file = generator_previews.raw(world, lines, "published.jsonl")
    preview = made(begun(world, generator="published-symmetric", sources={"published": [file]}, parameters={}))
    told = {one["what"]: one["found"] for one in preview.problems}
    assert told["label is not a text"] == "no such key" and told["evidence_sentence is not a text"] == "5"


def test_a_file_that_is_larger_than_its_generator_reads_is_refused_at_once(world: World) -> None:
    file = generator_previews.raw(world)
    RawFile.objects.update(bytes=200_000_001)
    file.refresh_from_db()
    refused = refusal(begun, world=world, file=file)
    assert refused.code is Code.TOO_LARGE and "at most 200 MB of one file" in refused.message
    RawFile.objects.update(bytes=200_000_000)
    file.refresh_from_db()
    assert begun(world, file).state == State.QUEUED


def test_files_of_another_dataset_are_not_read(world: World) -> None:
    other = datasets.create(slug="other", title="Other", task=world.benchmark.task, by=world.curator)
    file = generator_previews.raw(world)
    RawFile.objects.filter(pk=file.pk).update(dataset=other)
    file.refresh_from_db()
    assert "another dataset" in refusal(begun, world=world, file=file).message


def test_strangers_ask_for_nothing(world: World) -> None:
    preview = made(begun(world))
    for action, given in (
        (begun, {"world": world}),
        (request_preview.forget, {"generation": preview}),
        (drafts.make, {"generation": preview, "wanted": wanted(preview)}),
    ):
        assert refusal(action, **given, by=world.researcher).code is Code.NOT_AN_ORGANISER


def test_a_worker_that_dies_loses_one_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = sandbox_client.prepare_gold

    def dies_once(**given: Any) -> sandbox_client.Answer:
        asked.append(given["name"])
        if len(asked) == 2:
            raise sandbox_client.SandboxError("gone")
        return ask(**given)

    monkeypatch.setattr(sandbox_client, "prepare_gold", dies_once)
    generation = made(begun(world))
    assert generation.state == State.QUEUED
    assert [bool(part.facts) for part in generation.parts.all()] == [True, False]
    assert made(generation).state == State.DONE
    assert asked == ["train.jsonl", "test.jsonl", "test.jsonl"]


def test_a_killed_workers_preview_is_taken_up_again(world: World) -> None:
    """The lease runs out: what the dead worker would still write is not heard, and another makes the same."""
    generation = begun(world)
    mine = run_generator.WORK.claim(generation.pk)
    assert mine is not None
    Generation.objects.update(lease_until=generation.queued_at)
    assert run_generator.WORK.sweep() == 1
    assert made(generation).state == State.DONE
    with pytest.raises(LeaseLostError):
        run_generator._generate(mine)
    generation.refresh_from_db()
    assert (generation.state, generation.attempt, generation.parts.count()) == (State.DONE, 2, 2)


def test_it_is_given_up_after_some_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(**given: Any) -> sandbox_client.Answer:
        raise sandbox_client.SandboxError("gone")

    monkeypatch.setattr(sandbox_client, "generate", dies)
    generation = begun(world)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        made(generation)
    assert (generation.state, generation.reason, generation.attempt) == (
        State.FAILED,
        "sandbox",
        settings.MAX_ATTEMPTS,
    )


def test_a_cancelled_one_is_not_heard_any_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    generation, ask = begun(world), sandbox_client.generate

    def cancels(**given: Any) -> sandbox_client.Answer:
        request_preview.cancel(generation=generation, by=world.curator)
        return ask(**given)

    monkeypatch.setattr(sandbox_client, "generate", cancels)
    assert made(generation).state == State.CANCELLED
    assert not generation.parts.exists()
    assert refusal(request_preview.cancel, generation=generation, by=world.curator).code is Code.NOT_CANCELLABLE


def test_a_raw_file_that_was_altered_where_it_lies_is_not_read(world: World) -> None:
    file = generator_previews.raw(world)
    preview = made(begun(world, file))
    with Path(file.file.path).open("ab") as stored:
        stored.write(b" ")
    refused = refusal(drafts.make, generation=preview, requests=wanted(preview), by=world.curator)
    assert refused.code is Code.NOT_READY and "altered" in refused.message
    again = made(begun(world, file))
    assert (again.state, again.reason) == (State.FAILED, "storage")


def test_parts_that_come_out_otherwise_make_no_draft(world: World) -> None:
    preview = made(begun(world))
    preview.parts.filter(name="test").update(sha256=hashlib.sha256(b"other").hexdigest())
    n_splits = Split.objects.count()
    refused = refusal(drafts.make, generation=preview, requests=wanted(preview), by=world.curator)
    assert refused.code is Code.NOT_READY and "differ from the preview" in refused.message
    assert Split.objects.count() == n_splits


def test_drafts_are_all_or_none(world: World) -> None:
    preview = made(begun(world))
    n_splits = Split.objects.count()
    train, test = wanted(preview)
    taken = DraftRequest(test.part, name=world.split.name, kind="test", gold_public=False)
    refused = refusal(drafts.make, generation=preview, requests=[train, taken], by=world.curator)
    assert refused.code is Code.NAME_TAKEN or refused.code is Code.INVALID_NAME
    assert Split.objects.count() == n_splits
    assert not preview.parts.exclude(split=None).exists()
    assert len(drafts.make(generation=preview, requests=[train, test], by=world.curator)) == 2


def test_the_oldest_previews_give_way_but_not_those_with_splits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_preview, "MAX_PREVIEWS", 2)
    file = generator_previews.raw(world)
    used = made(begun(world, file, seed=1))
    drafts.make(generation=used, requests=wanted(used), by=world.curator)
    for seed in (2, 3, 4):
        made(begun(world, file, seed=seed))
    assert list(Generation.objects.order_by("pk").values_list("seed", flat=True)) == [1, 3, 4]
    assert refusal(request_preview.forget, generation=used, by=world.curator).code is Code.NOT_READY
    acts = AuditEntry.objects.filter(subject=f"dataset:{world.split.dataset.pk}").values_list("action", flat=True)
    assert {"generation.begun", "generation.used", "generation.forgotten"} <= set(acts)


def test_of_drafts_asked_for_twice_at_once_the_second_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tabs: while the second makes its parts the first has made the splits."""
    preview = made(begun(world))
    run, first = run_generator.run, []

    def overtaken(row: Generation) -> sandbox_client.Answer:
        if not first:
            first.append(row)
            drafts.make(generation=row, requests=wanted(row), by=world.curator)
        return run(row)

    monkeypatch.setattr(run_generator, "run", overtaken)
    n_splits = Split.objects.count()
    refused = refusal(drafts.make, generation=preview, requests=wanted(preview), by=world.curator)
    assert refused.code is Code.NOT_READY and "is already the split my-train" in refused.message
    assert Split.objects.count() == n_splits + 2


def test_a_draft_of_a_name_that_is_taken_is_refused_before_its_parts_are_made(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = made(begun(world))
    monkeypatch.setattr(run_generator, "run", lambda row: pytest.fail("the generator ran"))
    train, test = preview.parts.all()
    for names, told in ((("other", "TEST"), "has a split test already"), (("one", "ONE"), "Two parts")):
        asked = [
            DraftRequest(part, name=name, kind="test", gold_public=False)
            for part, name in zip((train, test), names, strict=True)
        ]
        refused = refusal(drafts.make, generation=preview, requests=asked, by=world.curator)
        assert refused.code is Code.NAME_TAKEN and told in refused.message


@pytest.mark.parametrize("name", ["test", "TEST", "Test"])
def test_splits_whose_names_differ_in_case_alone_are_refused(world: World, name: str) -> None:
    given = {"dataset": world.split.dataset, "name": name, "kind": "test", "gold_public": False, "by": world.curator}
    refused = refusal(splits.create_split, **given)
    assert refused.code is Code.NAME_TAKEN and "has a split test already" in refused.message
