"""BUCKLE's scenario files become boards: labels stay hidden, ids and order tell nothing, faults have a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.tasks.fact_checking import TASK
from leaderboard.hosting.importers import PublishedFileError

from .conftest import Prepare, lines_of

HEADER = "Subject\tObject\tRelation\tLabel\tOrigin_Relation\tCluster"
NAME = "test_c{c}_h{h}_s{s}_r{r}{flavour}_scenario.tsv"

Scenario = Callable[..., Path]


def row(subject: str, object_: str, holds: bool, relation: str = "bornIn") -> str:
    return "\t".join([subject, object_, relation, "1" if holds else "-1", "No" if holds else "livedIn", "3"])


CLAIMS = [row("ada", "london", True), row("bo", "rome", True), row("ada", "rome", False), row("bo", "oslo", False)]


@pytest.fixture
def scenario(published: Path) -> Scenario:
    def written(rows: list[str] = CLAIMS, *, folder: str = "bornIn", name: str = "", **told: str) -> Path:
        given = {"c": "1.0", "h": "0.5", "s": str(len(rows)), "r": "1.0", "flavour": "_random", **told}
        path = published / folder / (name or NAME.format(**given))
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in [HEADER, *rows]))
        return path

    return written


def test_a_relations_scenarios_of_one_ratio_are_one_hidden_split(
    scenario: Scenario, prepare: Prepare, work: Path
) -> None:
    scenario(c="0.2")
    scenario(c="1.0")
    scenario([row("cy", "rome", True), row("cy", "oslo", False)], r="0.2")
    scenario([row("x", "y", True, "wroteIn")], folder="wroteIn")
    manifest = prepare("buckle", salt="pepper").manifest
    assert [(split.name, split.kind, split.gold_public) for split in manifest.splits] == [
        ("born-in-r0-2", "test", False),
        ("born-in-r1-0", "test", False),
        ("wrote-in-r1-0", "test", False),
    ]
    assert [phase.options for phase in manifest.phases] == [{"cross": "transparency,homogeneity"}] * 3
    golds = lines_of(work / "born-in-r1-0.jsonl")
    assert len(golds) == 8
    told = {(gold["subject"], gold["object"], gold["label"], gold["slices"]["transparency"]) for gold in golds}
    assert told == {
        (*claim, transparency)
        for transparency in (0.2, 1.0)
        for claim in (("ada", "london", True), ("bo", "rome", True), ("ada", "rome", False), ("bo", "oslo", False))
    }
    assert {gold["relation"] for gold in golds} == {gold["slices"]["relation"] for gold in golds} == {"bornIn"}
    assert {gold["slices"]["scenario"] for gold in golds} == {
        "c0.2 h0.5 s4 r1.0 random",
        "c1.0 h0.5 s4 r1.0 random",
    }


def test_a_pair_is_one_group_in_whatever_scenarios(scenario: Scenario, prepare: Prepare, work: Path) -> None:
    scenario(c="0.2")
    scenario(c="1.0")
    prepare("buckle")
    golds = lines_of(work / "born-in-r1-0.jsonl")
    groups: dict[str, set[tuple[str, str]]] = {}
    for gold in golds:
        groups.setdefault(gold["group"], set()).add((gold["subject"], gold["object"]))
    assert len({gold["id"] for gold in golds}) == 8
    assert sorted(len(pairs) for pairs in groups.values()) == [1, 1, 1, 1]


def test_what_the_public_gets_has_no_label_and_no_published_order(
    scenario: Scenario, prepare: Prepare, work: Path
) -> None:
    path = scenario([row(f"s{n}", f"o{n}", n < 30) for n in range(60)])
    imported = prepare("buckle")
    golds = lines_of(work / "born-in-r1-0.jsonl")
    with (work / "born-in-r1-0.jsonl").open("rb") as file:
        inputs = TASK.public_inputs(TASK.read_gold(file, "gold.jsonl", {}))
    assert not any(word in inputs for word in (b"label", b"Origin", b"livedIn", b"Cluster", b"slices", b"group"))
    assert [gold["id"] for gold in golds] == sorted(gold["id"] for gold in golds)
    public = {public: old for old, public in imported.id_map.items()}
    lines = [int(public[gold["id"]].rpartition(":")[2]) for gold in golds]
    assert sorted(lines) == list(range(2, 62))
    assert lines != sorted(lines)
    for gold, line in zip(golds, lines, strict=True):
        assert (gold["subject"], gold["label"]) == (f"s{line - 2}", line - 2 < 30)
    assert imported.origins.of("born-in-r1-0.jsonl", 1) == f"{path.name}:{lines[0]}"


def test_a_table_compares_like_with_like(scenario: Scenario, prepare: Prepare, work: Path) -> None:
    """The matrix holds what was not chosen by popularity; the popularity table settings with all three flavours."""
    for flavour in ("_random", "_popular", "_nopopular"):
        scenario(c="1.0", h="1.0", flavour=flavour)
    scenario(c="0.5", h="1.0", flavour="_popular")
    scenario(c="0.5", h="1.0", flavour="_random")
    scenario(c="0.2", h="1.0", flavour="")
    prepare("buckle")
    slices = {gold["slices"].pop("scenario"): gold["slices"] for gold in lines_of(work / "born-in-r1-0.jsonl")}
    born = {"relation": "bornIn"}
    assert slices == {
        "c1.0 h1.0 s4 r1.0 random": born | {"transparency": 1.0, "homogeneity": 1.0, "popularity": "random"},
        "c1.0 h1.0 s4 r1.0 popular": born | {"popularity": "popular"},
        "c1.0 h1.0 s4 r1.0 nopopular": born | {"popularity": "non-popular"},
        "c0.5 h1.0 s4 r1.0 popular": born,
        "c0.5 h1.0 s4 r1.0 random": born | {"transparency": 0.5, "homogeneity": 1.0},
        "c0.2 h1.0 s4 r1.0": born | {"transparency": 0.2, "homogeneity": 1.0},
    }


def test_without_a_matrix_nothing_is_crossed(scenario: Scenario, prepare: Prepare) -> None:
    scenario(flavour="_popular")
    assert [phase.options for phase in prepare("buckle").manifest.phases] == [{}]


def test_training_scenarios_are_public_and_what_they_tell_is_said(scenario: Scenario, prepare: Prepare) -> None:
    scenario()
    scenario([CLAIMS[0], row("cy", "rome", True)], name="train_c1.0_h1.0_s2_r1.0_random_scenario.tsv")
    said: list[str] = []
    manifest = prepare("buckle", say=said.append).manifest
    assert [(split.name, split.kind, split.gold_public) for split in manifest.splits] == [
        ("born-in-r1-0-train", "train", True),
        ("born-in-r1-0", "test", False),
    ]
    assert [phase.split for phase in manifest.phases] == ["born-in-r1-0"]
    overlap = "bornIn: 1 of 4 test pairs are in training files, with their labels."
    assert f"warning: {overlap}" in said
    assert overlap in manifest.description[-1]


def test_what_repetition_tells_is_said(scenario: Scenario, prepare: Prepare) -> None:
    """True claims twice each against a false one once and a false one twice: (1 + .5) / 2."""
    scenario([row("a", "b", True), row("c", "d", False)], c="0.0")
    scenario([row("a", "b", True), row("c", "d", False), row("e", "f", False), row("g", "h", False)], c="0.2")
    said: list[str] = []
    prepare("buckle", say=said.append)
    # Of the false ones two of four recur: 2 * (2 * 1 + 2 * .5) of 2 * 4.
    assert any(
        "6 claims are 4 pairs, and how often a pair recurs gives an AUROC of 0.75 alone" in line for line in said
    )


@pytest.mark.parametrize(
    ("line", "text", "told"),
    [
        (0, HEADER.replace("Label", "Truth"), ":1: header, found Subject Object Relation Truth"),
        (0, "", ":1: header, found "),
        (2, "bo\trome\tbornIn\t1\tNo", ":3: found 5 columns, expected 6"),
        (2, "", ":3: found 1 columns, expected 6"),
        (2, CLAIMS[1].replace("\t1\t", "\t0\t"), ":3: Label, found '0', expected 1 or -1"),
        (2, CLAIMS[1].replace("\t1\t", "\ttrue\t"), ":3: Label, found 'true'"),
        (2, CLAIMS[1].replace("rome", ""), ":3: Object is empty"),
        (2, CLAIMS[1].replace("bornIn", "diedIn"), ":3: Relation, found diedIn, expected bornIn"),
        (2, row("ada", "london", False), ":3: ada and london are on line 2 with another label"),
        (2, row("ada", "london", True), ":3: ada and london are on line 2 already"),
        (2, CLAIMS[1].replace("rome", "ro\0me"), ":3: found a NUL"),
        (None, CLAIMS[0], ": found 3 claims, expected 4 as the file's name says"),
    ],
)
def test_a_fault_has_its_line(line: int | None, text: str, told: str, scenario: Scenario, prepare: Prepare) -> None:
    path = scenario()
    lines = path.read_text().splitlines()
    if line is None:
        lines.pop()
    else:
        lines[line] = text
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(PublishedFileError) as fault:
        prepare("buckle")
    assert str(fault.value).startswith(f"{path.name}{told}")


def test_bytes_that_are_no_text_have_their_line(scenario: Scenario, prepare: Prepare) -> None:
    path = scenario()
    path.write_bytes(path.read_bytes().replace(b"rome", b"r\xf6me", 1))
    with pytest.raises(PublishedFileError, match=r":3: found byte 0xf6, expected UTF-8"):
        prepare("buckle")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("test_c1.0_h1.0_r1.0_random_scenario.tsv", "unknown form of the file's name, expected {test|train}_c"),
        ("test_c1.0_h1.0_s4_r1.0_famous_scenario.tsv", "unknown form of the file's name"),
        ("test_c1.5_h1.0_s4_r1.0_random_scenario.tsv", "transparency in the file's name, found 1.5, expected 0 to 1"),
        ("test_c1.0_h1.0.0_s4_r1.0_random_scenario.tsv", "homogeneity in the file's name, found 1.0.0"),
    ],
)
def test_a_name_that_does_not_say_how_it_was_drawn(name: str, told: str, scenario: Scenario, prepare: Prepare) -> None:
    scenario(name=name)
    with pytest.raises(PublishedFileError) as fault:
        prepare("buckle")
    assert str(fault.value).startswith(f"{name}: {told}")


def test_two_scenarios_must_agree_on_a_pair(scenario: Scenario, prepare: Prepare) -> None:
    scenario(c="0.2")
    path = scenario([row("ada", "london", False)], c="1.0")
    with pytest.raises(PublishedFileError, match=rf"{path.name}:2: ada and london have another label in .*_c0\.2_.*:2"):
        prepare("buckle")


def test_a_scenario_that_is_there_twice(scenario: Scenario, prepare: Prepare) -> None:
    scenario()
    scenario(folder="copy")
    with pytest.raises(PublishedFileError, match="the same scenario of bornIn is also in"):
        prepare("buckle")


def test_training_scenarios_alone_are_no_benchmark(scenario: Scenario, prepare: Prepare, published: Path) -> None:
    scenario(name="train_c1.0_h1.0_s4_r1.0_random_scenario.tsv")
    with pytest.raises(PublishedFileError, match="found no test scenario"):
        prepare("buckle")
