"""The invented atlas: offsets, properties and folds are right, and every kind of fact is there."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.main import main

# Mesquita et al. 2019, table 2, with the ids of the published files.
PROPERTIES = {
    "1": "SUBSIDIARY_OF", "2": "FOUNDED_BY", "3": "EMPLOYEE_OR_MEMBER_OF", "4": "CEO", "5": "DATE_FOUNDED",
    "6": "HEADQUARTERS", "9": "EDUCATED_AT", "10": "NATIONALITY", "11": "PLACE_OF_RESIDENCE",
    "12": "PLACE_OF_BIRTH", "14": "DATE_OF_DEATH", "15": "DATE_OF_BIRTH", "25": "SPOUSE", "34": "CHILD_OF",
    "45": "POLITICAL_AFFILIATION",
}  # fmt: skip
DATES = {"5", "14", "15"}

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "atlas-facts"


def lines_of(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def split(name: str) -> list[dict[str, Any]]:
    return lines_of(f"splits/{name}.jsonl")


def facts_of(documents: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    return [(d, p, fact) for d in documents for p in d["passages"] for fact in p["facts"]]


@pytest.fixture(scope="module")
def atlas() -> dict[str, list[dict[str, Any]]]:
    return {name: split(name) for name in ("train", "dev", "test")}


def test_folds_are_of_one_size_and_numbers_do_not_tell_them(atlas: dict[str, list[dict[str, Any]]]) -> None:
    folds = {d["documentId"]: d["fold"] for documents in atlas.values() for d in documents}
    assert Counter(folds.values()) == dict.fromkeys(range(1, 6), 50)
    assert sorted(folds) == [f"A{number:04d}" for number in range(1, 251)]
    in_turn = sum(folds[name] == i % 5 + 1 for i, name in enumerate(sorted(folds)))
    assert in_turn < 100, "a fifth by chance"
    assert {name: sorted({d["fold"] for d in documents}) for name, documents in atlas.items()} == {
        "train": [1, 2, 3],
        "dev": [4],
        "test": [5],
    }


def test_offsets_are_code_points_of_the_document(atlas: dict[str, list[dict[str, Any]]]) -> None:
    for document in (d for documents in atlas.values() for d in documents):
        text = document["documentText"]
        for passage in document["passages"]:
            span = (passage["passageStart"], passage["passageEnd"])
            assert text[slice(*span)] == passage["passageText"] != ""
            assert passage["passageId"] == f"{document['documentId']}:{span[0]}:{span[1]}"
            for fact in passage["facts"]:
                for role in ("subject", "object"):
                    start, end = fact[f"{role}Start"], fact[f"{role}End"]
                    assert span[0] <= start < end <= span[1]
                    assert text[start:end] == fact[f"{role}Text"]


def test_other_units_than_code_points_would_show(atlas: dict[str, list[dict[str, Any]]]) -> None:
    before = [d["documentText"][: fact["objectStart"]] for d, _, fact in facts_of(atlas["test"])]
    assert sum(any(ord(c) > 0xFFFF for c in text) for text in before) >= 5
    assert sum(not text.isascii() for text in before) >= 50
    assert sum(any(unicodedata.combining(c) for c in text) for text in before) >= 5


def test_every_property_has_enough_test_facts(atlas: dict[str, list[dict[str, Any]]]) -> None:
    counts = Counter(fact["propertyId"] for _, _, fact in facts_of(atlas["test"]))
    assert {number: counts[number] for number in PROPERTIES if counts[number] < 20} == {}
    assert set(counts) == set(PROPERTIES)
    for _, passage, fact in facts_of([d for documents in atlas.values() for d in documents]):
        annotated = {p["propertyId"]: p["propertyName"] for p in passage["exhaustivelyAnnotatedProperties"]}
        assert annotated.items() <= PROPERTIES.items()
        assert fact["propertyId"] in annotated
        assert fact["humanReadable"].split("> <")[1] == annotated[fact["propertyId"]]


def test_facts_come_in_every_kind(atlas: dict[str, list[dict[str, Any]]]) -> None:
    facts = [fact for _, _, fact in facts_of(atlas["test"])]
    assert sum(fact["subjectText"].lower() in ("he", "she", "it", "his", "her", "its") for fact in facts) > 50
    assert {bool(fact["subjectUri"]) for fact in facts} == {bool(fact["objectUri"]) for fact in facts} == {True, False}
    assert {fact["objectUri"] for fact in facts if fact["propertyId"] in DATES} == {""}
    sizes = [len(p["facts"]) for d in atlas["test"] for p in d["passages"]]
    assert sizes.count(0) >= 15
    assert sum(size >= 3 for size in sizes) >= 20
    for _, passage, fact in facts_of(atlas["test"]):
        if fact["propertyId"] == "25":
            back = (fact["objectStart"], fact["subjectStart"])
            assert back in {(f["subjectStart"], f["objectStart"]) for f in passage["facts"] if f["propertyId"] == "25"}


def test_an_identifier_stands_for_one_entity(atlas: dict[str, list[dict[str, Any]]]) -> None:
    uris = {f[r + "Uri"] for ds in atlas.values() for _, _, f in facts_of(ds) for r in ("subject", "object")} - {""}
    assert all(re.fullmatch(r"https://atlas\.example/entity/E\d+", uri) for uri in uris)
    towns = defaultdict(set)
    for _, _, fact in facts_of([d for documents in atlas.values() for d in documents]):
        towns[fact["objectText"]].add(fact["objectUri"])
    assert len(towns["Harrow Bay"]) == 2  # two towns of one name: a linker cannot go by names alone


def audited(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[int, str]:
    status = main(["audit", "split", "knowledge-base-population", "--gold", str(path)])
    return status, capsys.readouterr().out


TELLS = re.compile(r"\[(?:ids|order)-tells?-label\]")


@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_neither_ids_nor_order_tell_how_many_facts_there_are(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, told = audited(capsys, FOLDER / "splits" / f"{name}.jsonl")
    assert status == 0 and "[" in told and TELLS.findall(told) == []


def test_ids_that_do_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = sorted(split("dev"), key=lambda one: sum(len(passage["facts"]) for passage in one["passages"]))
    lines = [
        json.dumps(one, ensure_ascii=False).replace(one["documentId"], f"B{number:04d}")
        for number, one in enumerate(documents)
    ]
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    status, told = audited(capsys, path)
    assert status == 1 and re.search(r"ERROR \S+ \[ids-tell-label\]\s+the ids tell the number of facts", told)
