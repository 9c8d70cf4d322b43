"""Published sets in the curation workflow: files of FEVER Symmetric and CoDEx give drafts with correct gold."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import File

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.curation.actions import drafts, raw_files, request_preview, run_generator
from leaderboard.curation.actions.drafts import DraftRequest
from leaderboard.datasets.actions import datasets
from leaderboard.models import Dataset, Generation, RawFile, Split, State, User
from tests.support.api_calls import person
from tests.support.rows.gold_uploads import close_all, uploaded

pytestmark = [pytest.mark.realdata, pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def curator() -> User:
    return person("cora", is_curator=True)


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def a_benchmark(task: str, by: User) -> Dataset:
    dataset = datasets.create(slug="own", title="Own", task=task, by=by)
    benchmark_texts = {"summary": "Own.", "description": "", "rules": ""}
    benchmarks.create(slug="own", title="Own", task=task, dataset=dataset, by=by, **benchmark_texts)
    return dataset


def upload_raw(dataset: Dataset, path: Path, by: User, *, packed: bool = False) -> RawFile:
    content = path.read_bytes()
    file: File[bytes] = uploaded(gzip.compress(content) if packed else content, path.name + (".gz" if packed else ""))
    return raw_files.add(dataset=dataset, file=file, by=by)


def draft_of(dataset: Dataset, generator: str, by: User, *, name: str = "test", **sources: list[RawFile]) -> Split:
    texts: dict[str, Any] = {"relation": "P27", "size": "100", "transparency": "0,1", "pairs_once": "yes"}
    fields = {"parameters": texts if generator == "scenarios" else {}, "options": {}, "seed": 11, "by": by}
    generation = request_preview.begin(dataset=dataset, generator=generator, sources=sources, **fields)
    run_generator.WORK.run(generation.pk)
    generation = Generation.objects.get(pk=generation.pk)
    assert (generation.state, generation.problems) == (State.DONE, [])
    requests = [DraftRequest(part, name=name, kind="test", gold_public=False) for part in generation.parts.all()]
    (split,) = drafts.make(generation=generation, requests=requests, by=by)
    return split


def gold_of(split: Split) -> list[dict[str, Any]]:
    gold = split.current_gold
    assert gold is not None
    with gold.file.open("rb") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(("file", "lines"), [("full", 956), ("dev", 708), ("test", 712)])
def test_fever_symmetric_as_published(realdata: Path, curator: User, file: str, lines: int) -> None:
    dataset = a_benchmark("fact-verification", curator)
    source = realdata / "symmetric" / "source" / f"fever_symmetric_{file}.jsonl"
    split = draft_of(
        dataset, "published-symmetric", curator, published=[upload_raw(dataset, source, curator, packed=True)]
    )
    gold = gold_of(split)
    assert len(gold) == lines and {*Counter(line["group"] for line in gold).values()} == {4}
    published = [json.loads(line) for line in source.read_text().splitlines()]
    texts = Counter(
        (
            published_line["claim"],
            published_line.get("evidence_sentence", published_line.get("evidence")),
            published_line["label"],
        )
        for published_line in published
    )
    assert (
        Counter(
            (published_line["claim"], published_line["evidence_text"], published_line["label"])
            for published_line in gold
        )
        == texts
    )
    assert not {published_line["id"] for published_line in published} & {
        published_line["id"] for published_line in gold
    }


def test_generated_pairs_alone_are_refused(realdata: Path, curator: User) -> None:
    dataset = a_benchmark("fact-verification", curator)
    raw = upload_raw(dataset, realdata / "symmetric" / "source" / "fever_symmetric_generated.jsonl", curator)
    fields = {"parameters": {}, "options": {}, "seed": 1, "by": curator}
    generation = request_preview.begin(
        dataset=dataset, generator="published-symmetric", sources={"published": [raw]}, **fields
    )
    run_generator.WORK.run(generation.pk)
    generation.refresh_from_db()
    assert generation.state == State.REJECTED and generation.problems[0]["line"] is not None


def test_link_prediction_over_codex(realdata: Path, curator: User) -> None:
    dataset = a_benchmark("link-prediction", curator)
    files = {
        part: upload_raw(dataset, realdata / "codex-s" / f"{part}.txt", curator) for part in ("test", "valid", "train")
    }
    split = draft_of(
        dataset, "open-questions", curator, evaluation=[files["test"]], known=[files["valid"], files["train"]]
    )
    triples = [line.split("\t") for line in (realdata / "codex-s" / "test.txt").read_text().splitlines()]
    questions = {(s, r, "?") for s, r, _ in triples} | {("?", r, o) for _, r, o in triples}
    gold = gold_of(split)
    assert {tuple(line["question"]) for line in gold} == questions
    known = {tuple(line.split("\t")) for part in files for line in (realdata / "codex-s" / f"{part}.txt").open()}
    known = {(s, r, o.strip()) for s, r, o in known}
    for line in gold[:50]:
        s, r, o = line["question"]
        position = 2 if o == "?" else 0
        answers_known = {triple[position] for triple in known if triple[1] == r and (triple[0] == s or triple[2] == o)}
        assert {*line["answers"]} <= answers_known and {*line["answers"], *line["filtered"]} == answers_known


def test_fact_checking_over_codex(realdata: Path, curator: User) -> None:
    dataset = a_benchmark("fact-checking", curator)
    graph = [upload_raw(dataset, realdata / "codex-s" / f"{part}.txt", curator) for part in ("train", "valid", "test")]
    types = upload_raw(dataset, realdata / "codex-s" / "codex_entity2types.json", curator)
    split = draft_of(dataset, "scenarios", curator, graph=graph, types=[types])
    gold = gold_of(split)
    assert Counter((line["slices"]["transparency"], line["label"]) for line in gold) == {
        (share, label): 50 for share in (0.0, 1.0) for label in (True, False)
    }
    known = {
        tuple(line.split("\t"))
        for part in ("train", "valid", "test")
        for line in (realdata / "codex-s" / f"{part}.txt").read_text().splitlines()
    }
    assert all(((line["subject"], "P27", line["object"]) in known) == line["label"] for line in gold)
