"""OLPBENCH's triples become questions: any mention answers, other known answers are filtered, ids tell nothing."""

from __future__ import annotations

import gzip
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare, lines_of

NBC = "nbc-tv\thas office in\tnyc\tnbc-tv|||nbc\tnew york city|||nyc|||new york"


@pytest.fixture
def data(published: Path) -> Any:
    def written(name: str, *lines: str) -> Path:
        path = published / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return written


def asked(path: Path) -> dict[tuple[str, ...], list[tuple[set[str], set[str]]]]:
    found: dict[tuple[str, ...], list[tuple[set[str], set[str]]]] = {}
    for line in lines_of(path):
        found.setdefault(tuple(line["question"]), []).append((set(line["answers"]), set(line["filtered"])))
    return found


def test_a_triple_asks_for_both_ends(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", NBC)
    data("validation_data_linked.txt", "nbc-tv\thas office in\tla\tnbc-tv\tla|||los angeles")
    data("train_data_thorough.txt", "abc\thas office in\tnyc\tabc\tnyc", "nbc-tv\thas office in\tboston", "x\ty\tz\t\t")
    prepare("olpbench")
    assert asked(work / "test.jsonl") == {
        ("nbc-tv", "has office in", "?"): [({"nyc", "new york city", "new york"}, {"la", "los angeles", "boston"})],
        ("?", "has office in", "nyc"): [({"nbc-tv", "nbc"}, {"abc"})],
    }
    lines = {line["slices"]["side"]: line for line in lines_of(work / "test.jsonl")}
    assert lines["tail"]["question"][2] == lines["head"]["question"][0] == "?"
    assert lines["tail"]["answers"][0] == "nyc"
    assert lines["tail"]["group"] == lines["head"]["group"]


def test_one_question_may_be_asked_of_two_entities_but_once_of_each(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", "a\tr\tb\ta\tb|||b2", "a\tr\tb2\ta\tb2|||b", "a\tr\tc\ta\tc")
    prepare("olpbench")
    found = asked(work / "test.jsonl")
    assert sorted(map(sorted, (answers for answers, _ in found["a", "r", "?"]))) == [["b", "b2"], ["c"]]
    assert ({"c"}, {"b", "b2"}) in found["a", "r", "?"]
    golds = lines_of(work / "test.jsonl")
    assert len(golds) == 5
    groups = {tuple(gold["question"]): set[str]() for gold in golds}
    for gold in golds:
        groups[tuple(gold["question"])].add(gold["group"])
    assert groups["?", "r", "b"] == groups["?", "r", "b2"]
    assert groups["?", "r", "c"] != groups["?", "r", "b"]


def test_splits_are_hidden_and_the_test_comes_last(data: Any, prepare: Prepare) -> None:
    data("test_data.txt", NBC)
    data("validation_data_all.txt", "a\tb\tc")
    data("validation_data_linked_mention.txt", "d\te\tf\t\t")
    manifest = prepare("olpbench").manifest
    assert [(split.name, split.kind, split.gold_public) for split in manifest.splits] == [
        ("validation-all", "dev", False),
        ("validation-mention", "dev", False),
        ("test", "test", False),
    ]
    assert [phase.split for phase in manifest.phases][-1] == "test"


def test_public_ids_do_not_tell_which_questions_are_of_one_triple(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", *(f"s{n}\tr{n}\to{n}" for n in range(50)))
    imported = prepare("olpbench", salt="pepper")
    golds = lines_of(work / "test.jsonl")
    assert [gold["id"] for gold in golds] == sorted(gold["id"] for gold in golds)
    assert {gold["id"] for gold in golds} == set(imported.id_map.values())
    by_id = {gold["id"]: gold for gold in golds}
    assert by_id[imported.id_map["test_data.txt:7 head"]]["question"] == ["?", "r6", "o6"]
    neighbours = sum(one["group"] == two["group"] for one, two in pairwise(golds))
    assert neighbours < 10


def test_the_largest_training_file_names_the_known_answers(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", NBC)
    data("train_data_thorough.txt", "nbc-tv\thas office in\tboston")
    data("train_data_simple.txt", "nbc-tv\thas office in\tchicago")
    said: list[str] = []
    prepare("olpbench", say=said.append)
    assert asked(work / "test.jsonl")["nbc-tv", "has office in", "?"][0][1] == {"chicago"}
    assert any(line.startswith("train_data_simple.txt: 1 triples") for line in said)


def test_files_of_ids_are_not_taken_for_the_words(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", NBC)
    data("mapped_to_ids/test_data.txt", "2\t3\t4\t2\t4")
    prepare("olpbench")
    assert ("nbc-tv", "has office in", "?") in asked(work / "test.jsonl")


def test_packed_files_are_read(published: Path, prepare: Prepare, work: Path) -> None:
    (published / "test.tsv.gz").write_bytes(gzip.compress(b"a\tr\tb\r\n"))
    prepare("olpbench")
    assert asked(work / "test.jsonl") == {("a", "r", "?"): [({"b"}, set())], ("?", "r", "b"): [({"a"}, set())]}
    (published / "test.tsv.gz").write_bytes(gzip.compress(b"a\tr\tb\n" * 1000)[:-20])
    (work / "test.jsonl").unlink()
    with pytest.raises(PublishedFileError, match=r"test\.tsv\.gz:\d+: .*expected a whole gzip file"):
        prepare("olpbench")


def test_training_data_are_not_held(data: Any, published: Path, prepare: Prepare) -> None:
    """A training file of 6 MB, of which one line belongs to a question."""
    data("test_data.txt", NBC)
    filler = "".join(f"subject {n}\trelation {n}\tobject {n} {'x' * 70}\n" for n in range(60_000))
    (published / "train_data_simple.txt").write_text(filler + "nbc-tv\thas office in\tboston\n")
    tracemalloc.start()
    prepare("olpbench")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(filler) > 6_000_000
    assert peak < 2_000_000


def test_the_mention_that_stands_for_what_is_asked_is_left_out(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", NBC, "?\tis\tx")
    said: list[str] = []
    prepare("olpbench", say=said.append)
    assert len(lines_of(work / "test.jsonl")) == 2
    assert 'warning: test_data.txt: 1 triples with the mention "?" are left out' in said


def test_answers_that_fit_no_line_are_left_out(data: Any, prepare: Prepare, work: Path) -> None:
    data("test_data.txt", NBC)
    data("train_data_simple.txt", *(f"nbc-tv\thas office in\t{'y' * 1000} {n}" for n in range(1100)))
    said: list[str] = []
    prepare("olpbench", say=said.append)
    assert [line["slices"]["side"] for line in lines_of(work / "test.jsonl")] == ["head"]
    assert any("1 questions of over 1 MiB of answers are left out" in line for line in said)


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("test_data.txt", "a\tr", "test_data.txt:2: found 2 columns, expected 3"),
        ("test_data.txt", "a\tr\tb\tc", "test_data.txt:2: found 4 columns"),
        ("test_data.txt", "\tr\tb", "test_data.txt:2: the subject is empty"),
        ("test_data.txt", "a\t\tb", "test_data.txt:2: the relation is empty"),
        ("test_data.txt", "a\tr\t", "test_data.txt:2: the object is empty"),
        ("test_data.txt", "", "test_data.txt:2: found 1 columns"),
        ("test_data.txt", "a\tr\t\0", "test_data.txt:2: found a NUL"),
        ("train_data_simple.txt", "a\tr", "train_data_simple.txt:2: found 2 columns"),
    ],
)
def test_a_fault_has_its_line(file: str, line: str, told: str, data: Any, prepare: Prepare) -> None:
    data("test_data.txt", NBC)
    data(file, NBC, line)
    with pytest.raises(PublishedFileError) as fault:
        prepare("olpbench")
    assert str(fault.value).startswith(told)


def test_public_gold_must_not_answer_a_hidden_split(data: Any, prepare: Prepare) -> None:
    data("test_data.txt", NBC)
    data("validation_data_linked.txt", "nbc-tv\thas office in\tla")
    with pytest.raises(PublishedFileError, match="public gold of validation-linked would reveal 1 answers of test"):
        prepare("olpbench", public_gold=frozenset({"validation-linked"}))


def test_public_gold_that_tells_nothing_is_allowed(data: Any, prepare: Prepare) -> None:
    data("test_data.txt", NBC)
    data("validation_data_linked.txt", "abc\tis part of\tdisney")
    splits = prepare("olpbench", public_gold=frozenset({"validation-linked"})).manifest.splits
    assert {split.name: split.gold_public for split in splits} == {"validation-linked": True, "test": False}


def test_nothing_to_evaluate(data: Any, prepare: Prepare) -> None:
    data("train_data_simple.txt", NBC)
    with pytest.raises(PublishedFileError, match=r"found no validation_data_all\.txt"):
        prepare("olpbench")
    data("test_data.txt")
    with pytest.raises(PublishedFileError, match=r"test_data\.txt: found no triple"):
        prepare("olpbench")


@pytest.mark.parametrize(("name", "count", "same"), [("test_data.txt", 10_000, True), ("test.txt", 10_000, False)])
def test_papers_rows_are_comparable_on_the_published_test(
    name: str, count: int, same: bool, data: Any, prepare: Prepare
) -> None:
    data(name, *(f"s{n}\tr\to{n}" for n in range(count)))
    assert {row.same_split for row in prepare("olpbench").manifest.reported} == {same}


def test_papers_rows_are_not_comparable_on_part_of_it(data: Any, prepare: Prepare) -> None:
    data("test_data.txt", NBC)
    assert {row.same_split for row in prepare("olpbench").manifest.reported} == {False}
