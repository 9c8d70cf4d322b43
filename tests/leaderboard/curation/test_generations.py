"""Generators as background work: requested, run in the sandbox, retried, refused by line, and drafts made from
previews."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from evaluator.jsonl.tables import write_table
from leaderboard.core.refusal import Code
from leaderboard.curation.actions import drafts, request_preview, run_generator
from leaderboard.curation.actions.drafts import DraftRequest
from leaderboard.datasets.actions import datasets, splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Generation, RawFile, Split, State
from leaderboard.work_queue.lease import LeaseLostError
from tests.support.rows import generator_previews
from tests.support.rows.gold_uploads import close_all, refusal
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
HALVES = {"parts": "train=0.5,test=0.5", "by": "group", "stratify": "label"}


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def started(world: World, file: RawFile | None = None, **changes: Any) -> Generation:
    file = file or world.split.dataset.raw_files.first() or generator_previews.raw(world)
    fields = {
        "dataset": world.split.dataset,
        "generator": "holdout",
        "sources": {"gold": [file]},
        "parameters": HALVES,
        "options": {},
        "seed": 7,
        "by": world.curator,
    }
    return request_preview.begin(**{**fields, **changes})


def completed(generation: Generation) -> Generation:
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    return generation


def ids_of(split: Split) -> list[str]:
    gold = split.current_gold
    assert gold is not None
    with gold.file.open("rb") as file:
        return [json.loads(line)["id"] for line in file]


def draft_requests(generation: Generation, **changes: Any) -> list[DraftRequest]:
    options = {"kind": "test", "gold_public": False, **changes}
    return [DraftRequest(part, name=f"my-{part.name}", **options) for part in generation.parts.all()]


def test_a_preview_equals_the_drafts_made_from_it(world: World) -> None:
    preview = completed(started(world))
    assert (preview.state, preview.problems) == (State.DONE, [])
    parts = {part.name: part for part in preview.parts.all()}
    assert {name: part.facts["n_units"] for name, part in parts.items()} == {"train": 4, "test": 4}
    (total, *_) = parts["test"].facts["balance"]
    assert total["labels"] == {"REFUTES": 2, "SUPPORTS": 2}
    inputs, gold = parts["test"].first[0]
    assert "label" not in inputs and gold["label"] in total["labels"] and inputs["id"] == gold["id"]
    splits_made = drafts.make(generation=preview, requests=draft_requests(preview), by=world.curator)
    assert [(split_.name, split_.state, split_.gold_public) for split_ in splits_made] == [
        ("my-train", "draft", False),
        ("my-test", "draft", False),
    ]
    assert sorted(ids_of(splits_made[0]) + ids_of(splits_made[1])) == [f"r{i}" for i in range(8)]
    for split, part in zip(splits_made, parts.values(), strict=True):
        gold_version = split.current_gold
        assert gold_version is not None and gold_version.sha256 == part.sha256
        part.refresh_from_db()
        assert part.split == split and split.inputs_sha256 == part.facts["inputs_sha256"]
    repeated = refusal(drafts.make, generation=preview, requests=draft_requests(preview), by=world.curator)
    assert repeated.code is Code.ALREADY_EXISTS


def test_results_depend_only_on_input_and_seed(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims(40))
    digests = []
    for seed in (7, 7, 8):
        digests.append([part.sha256 for part in completed(started(world, file, seed=seed)).parts.all()])
    assert digests[0] == digests[1] != digests[2]
    unseeded = completed(started(world, file, seed=None))
    assert unseeded.seed not in (7, 8) and unseeded.state == State.DONE


def test_salted_ids_are_the_same_within_a_dataset(world: World) -> None:
    members = ((1, 1, "SUPPORTS"), (1, 2, "REFUTES"), (2, 1, "REFUTES"), (2, 2, "SUPPORTS"))
    lines = (
        {"id": f"9{'' if i == 0 else f'000000{i + 1}'}", "claim": f"c{c}", "evidence_sentence": f"e{e}", "label": label}
        for i, (c, e, label) in enumerate(members)
    )
    file = generator_previews.raw(world, "".join(json.dumps(line) + "\n" for line in lines).encode(), "published.jsonl")
    request = {"generator": "published-symmetric", "sources": {"published": [file]}, "parameters": {}}
    first, second = (completed(started(world, **request)) for _ in range(2))
    assert first.parts.get().sha256 == second.parts.get().sha256
    (split,) = drafts.make(generation=first, requests=draft_requests(first), by=world.curator)
    assert all(len(new_id) == 16 and new_id != "9" for new_id in ids_of(split))
    assert not any(new_id.startswith("9000000") for new_id in ids_of(split))


def test_wrong_lines_are_reported_by_number(world: World) -> None:
    lines = generator_previews.claims().splitlines(keepends=True)
    lines[2] = b"{not json\n"
    lines[5] = lines[5].replace(b'"group": "g5"', b'"group": 5')
    preview = completed(started(world, generator_previews.raw(world, b"".join(lines), "broken.jsonl")))
    assert (preview.state, preview.reason) == (State.REJECTED, "bad_gold")
    assert {(problem["file"], problem["line"]) for problem in preview.problems} == {
        ("broken.jsonl", 3),
        ("broken.jsonl", 6),
    }
    assert not preview.parts.exists() and preview.report == {}


def test_subsets_that_are_invalid_gold_are_reported(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims().replace(b'"REFUTES"', b'"MAYBE"'))
    preview = completed(started(world, file, generator="as-it-is", parameters={}))
    assert preview.state == State.REJECTED
    assert [problem["line"] for problem in preview.problems] == [2, 4, 6, 8]


def test_a_preview_says_what_a_draft_will_be_refused_for(world: World) -> None:
    asymmetric = generator_previews.claims().replace(b'"group"', b'"slices": {"origin": "original"}, "group"')
    preview = completed(started(world, generator_previews.raw(world, asymmetric)))
    assert preview.state == State.DONE
    part = preview.parts.first()
    assert part is not None
    refused = refusal(drafts.make, generation=preview, requests=draft_requests(preview)[:1], by=world.curator)
    assert part.facts["test_problems"] == [problem["what"] for problem in refused.problems] != []
    client = Client()
    client.force_login(world.curator)
    page = client.get(reverse("manage_preview", args=["tiny", preview.pk])).content.decode()
    assert "can only become a train split" in page and part.facts["test_problems"][0] in html.unescape(page)
    assert drafts.make(generation=preview, requests=draft_requests(preview, kind="train")[:1], by=world.curator)
    long_slice = asymmetric.replace(b'"original"', b'"%s"' % (b"o" * 201))
    preview = completed(started(world, generator_previews.raw(world, long_slice, "long.jsonl")))
    assert preview.state == State.REJECTED and "expected at most 200" in preview.problems[0]["text"]


def test_invalid_lines_of_a_subset_are_reported_by_their_line_in_the_raw_file(world: World) -> None:
    file = generator_previews.raw(world, generator_previews.claims().replace(b'"REFUTES"', b'"MAYBE"'), "mine.jsonl")
    preview = completed(started(world, file, parameters={"parts": "a=0.5,b=0.5", "by": "group"}))
    assert preview.state == State.REJECTED
    locations = {(problem["file"], problem["line"]) for problem in preview.problems}
    assert locations and locations <= {("mine.jsonl", line) for line in (2, 4, 6, 8)}
    assert all(problem["text"].startswith(f"mine.jsonl:{problem['line']}: ") for problem in preview.problems)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_invalid_lines_of_a_subset_are_reported_by_their_row_in_a_raw_table(world: World, kind: str) -> None:
    lines = generator_previews.claims().replace(b'"REFUTES"', b'"MAYBE"').splitlines()
    file = generator_previews.raw(world, write_table(lines, kind), f"mine.{kind}")
    preview = completed(started(world, file, parameters={"parts": "a=0.5,b=0.5", "by": "group"}))
    assert preview.state == State.REJECTED
    locations = {(problem["file"], problem["line"]) for problem in preview.problems}
    assert locations and locations <= {(f"mine.{kind}", row) for row in (3, 5, 7, 9)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generator": "scenarios"}, "has no generator"),
        ({"generator": "?"}, "has no generator"),
        ({"sources": {}}, "Gold lines"),
        ({"generator": "folds", "parameters": {"folds": "1"}}, "Number of folds"),
        ({"generator": "folds", "parameters": {"folds": "1000000000"}}, "from 2 to 1000"),
        ({"options": {"nothing": "x"}}, "nothing"),
        ({"seed": 10**18}, "seed"),
    ],
)
def test_an_invalid_request_is_refused_at_once(world: World, changes: dict[str, Any], message: str) -> None:
    refused = refusal(started, world=world, **changes)
    code = Code.INVALID_VALUE if changes.get("sources") != {} else Code.NO_FILE
    assert refused.code is code and message in refused.message
    assert not Generation.objects.exists()


def test_an_empty_field_falls_back_to_the_forms_default(world: World) -> None:
    """With fact verification, whose lines have no document; otherwise every line would be invalid."""
    preview = completed(started(world, generator="folds", parameters={"by": " ", "folds": "2", "parts": ""}))
    assert (preview.parameters["by"], preview.problems, preview.state) == ("id", [], State.DONE)
    assert [part.name for part in preview.parts.all()] == ["fold-1", "fold-2"]


def test_a_duplicate_key_is_reported_without_a_flag(world: World) -> None:
    preview = completed(started(world, generator="folds", parameters={"folds": "2", "mark": "group"}))
    (problem,) = preview.problems
    assert "expected a key that no line has" in problem["text"] and "--" not in problem["text"]


def test_a_missing_key_is_reported(world: World) -> None:
    lines = b'{"id": "12", "claim": "c", "evidence_sentence": 5}\n'
    file = generator_previews.raw(world, lines, "published.jsonl")
    preview = completed(started(world, generator="published-symmetric", sources={"published": [file]}, parameters={}))
    counts = {problem["what"]: problem["found"] for problem in preview.problems}
    assert counts["label is not a text"] == "no such key" and counts["evidence_sentence is not a text"] == "5"


def test_a_file_over_the_generators_limit_is_refused_at_once(world: World) -> None:
    file = generator_previews.raw(world)
    RawFile.objects.update(bytes=200_000_001)
    file.refresh_from_db()
    refused = refusal(started, world=world, file=file)
    assert refused.code is Code.TOO_LARGE and "at most 200 MB of one file" in refused.message
    RawFile.objects.update(bytes=200_000_000)
    file.refresh_from_db()
    assert started(world, file).state == State.QUEUED


def test_files_of_another_dataset_are_not_read(world: World) -> None:
    other = datasets.create(slug="other", title="Other", task=world.benchmark.task, by=world.curator)
    file = generator_previews.raw(world)
    RawFile.objects.filter(pk=file.pk).update(dataset=other)
    file.refresh_from_db()
    assert "another dataset" in refusal(started, world=world, file=file).message


def test_only_managers_request_previews(world: World) -> None:
    preview = completed(started(world))
    for action, kwargs in (
        (started, {"world": world}),
        (request_preview.forget, {"generation": preview}),
        (drafts.make, {"generation": preview, "requests": draft_requests(preview)}),
    ):
        assert refusal(action, **kwargs, by=world.researcher).code is Code.NOT_AN_ORGANISER


def test_a_worker_that_dies_loses_at_most_one_subset(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str] = []
    ask = sandbox_client.prepare_gold

    def dies_once(files: Any, **kwargs: Any) -> sandbox_client.Answer:
        requested.append(kwargs["gold_name"])
        if len(requested) == 2:
            raise sandbox_client.SandboxError("gone")
        return ask(files, **kwargs)

    monkeypatch.setattr(sandbox_client, "prepare_gold", dies_once)
    generation = completed(started(world))
    assert generation.state == State.QUEUED
    assert [bool(part.facts) for part in generation.parts.all()] == [True, False]
    assert completed(generation).state == State.DONE
    assert requested == ["train.jsonl", "test.jsonl", "test.jsonl"]


def test_a_killed_workers_preview_is_retried(world: World) -> None:
    """The lease expires: a late write of the dead worker is ignored, and another worker computes the same result."""
    generation = started(world)
    lease = run_generator.WORK.claim(generation.pk)
    assert lease is not None
    Generation.objects.update(lease_until=generation.queued_at)
    assert run_generator.WORK.sweep() == 1
    assert completed(generation).state == State.DONE
    with pytest.raises(LeaseLostError):
        run_generator._generate(lease)
    generation.refresh_from_db()
    assert (generation.state, generation.attempt, generation.parts.count()) == (State.DONE, 2, 2)


def test_it_fails_after_several_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(files: Any, **kwargs: Any) -> sandbox_client.Answer:
        raise sandbox_client.SandboxError("gone")

    monkeypatch.setattr(sandbox_client, "generate", dies)
    generation = started(world)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        completed(generation)
    assert (generation.state, generation.reason, generation.attempt) == (
        State.FAILED,
        "sandbox",
        settings.MAX_ATTEMPTS,
    )


def test_a_cancelled_preview_ignores_late_results(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    generation, ask = started(world), sandbox_client.generate

    def cancels(files: Any, **kwargs: Any) -> sandbox_client.Answer:
        request_preview.cancel(generation=generation, by=world.curator)
        return ask(files, **kwargs)

    monkeypatch.setattr(sandbox_client, "generate", cancels)
    assert completed(generation).state == State.CANCELLED
    assert not generation.parts.exists()
    assert refusal(request_preview.cancel, generation=generation, by=world.curator).code is Code.NOT_CANCELLABLE


def test_a_raw_file_altered_on_disk_is_not_read(world: World) -> None:
    file = generator_previews.raw(world)
    preview = completed(started(world, file))
    with Path(file.file.path).open("ab") as stored:
        stored.write(b" ")
    refused = refusal(drafts.make, generation=preview, requests=draft_requests(preview), by=world.curator)
    assert refused.code is Code.CHANGED_MEANWHILE and "altered" in refused.message
    second = completed(started(world, file))
    assert (second.state, second.reason) == (State.FAILED, "storage")


def test_subsets_that_differ_from_the_preview_make_no_draft(world: World) -> None:
    preview = completed(started(world))
    preview.parts.filter(name="test").update(sha256=hashlib.sha256(b"other").hexdigest())
    n_splits = Split.objects.count()
    refused = refusal(drafts.make, generation=preview, requests=draft_requests(preview), by=world.curator)
    assert refused.code is Code.CHANGED_MEANWHILE and "differ from those of the preview" in refused.message
    assert Split.objects.count() == n_splits


def test_all_drafts_are_created_or_none(world: World) -> None:
    preview = completed(started(world))
    n_splits = Split.objects.count()
    train, test = draft_requests(preview)
    name_in_use = DraftRequest(test.part, name=world.split.name, kind="test", gold_public=False)
    refused = refusal(drafts.make, generation=preview, requests=[train, name_in_use], by=world.curator)
    assert refused.code is Code.NAME_TAKEN or refused.code is Code.INVALID_VALUE
    assert Split.objects.count() == n_splits
    assert not preview.parts.exclude(split=None).exists()
    assert len(drafts.make(generation=preview, requests=[train, test], by=world.curator)) == 2


def test_the_oldest_previews_are_removed_but_not_those_with_splits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_preview, "MAX_PREVIEWS", 2)
    file = generator_previews.raw(world)
    used = completed(started(world, file, seed=1))
    drafts.make(generation=used, requests=draft_requests(used), by=world.curator)
    for seed in (2, 3, 4):
        completed(started(world, file, seed=seed))
    assert list(Generation.objects.order_by("pk").values_list("seed", flat=True)) == [1, 3, 4]
    assert refusal(request_preview.forget, generation=used, by=world.curator).code is Code.IN_USE
    acts = AuditEntry.objects.filter(subject=f"dataset:{world.split.dataset.pk}").values_list("action", flat=True)
    assert {"generation.begun", "generation.used", "generation.forgotten"} <= set(acts)


def test_of_two_simultaneous_requests_for_drafts_the_second_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two browser tabs: while the second computes its subsets, the first creates the splits."""
    preview = completed(started(world))
    run, first = run_generator.run, []

    def overtaken(row: Generation) -> sandbox_client.Answer:
        if not first:
            first.append(row)
            drafts.make(generation=row, requests=draft_requests(row), by=world.curator)
        return run(row)

    monkeypatch.setattr(run_generator, "run", overtaken)
    n_splits = Split.objects.count()
    refused = refusal(drafts.make, generation=preview, requests=draft_requests(preview), by=world.curator)
    assert refused.code is Code.ALREADY_EXISTS and "split my-train was already made" in refused.message
    assert Split.objects.count() == n_splits + 2


def test_a_draft_name_in_use_is_refused_before_its_subset_is_computed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = completed(started(world))
    monkeypatch.setattr(run_generator, "run", lambda row: pytest.fail("the generator ran"))
    train, test = preview.parts.all()
    for names, message in ((("other", "TEST"), "already has a split test"), (("one", "ONE"), "Two draft splits")):
        requests = [
            DraftRequest(part, name=name, kind="test", gold_public=False)
            for part, name in zip((train, test), names, strict=True)
        ]
        refused = refusal(drafts.make, generation=preview, requests=requests, by=world.curator)
        assert refused.code is Code.NAME_TAKEN and message in refused.message


@pytest.mark.parametrize("name", ["test", "TEST", "Test"])
def test_split_names_that_differ_only_in_case_are_refused(world: World, name: str) -> None:
    fields = {"dataset": world.split.dataset, "name": name, "kind": "test", "gold_public": False, "by": world.curator}
    refused = refusal(splits.create_split, **fields)
    assert refused.code is Code.NAME_TAKEN and "already has a split test" in refused.message
