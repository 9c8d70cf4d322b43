"""`knowledgenet-1` and `knowledgenet-2` on invented documents with known facts."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import FileError, UsageError
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.registry import systems_of

pytest.importorskip("sklearn")
TASK = "knowledge-base-population"
PEOPLE = ("Ada Berg", "Emil Noir", "Ida Moos", "Jan Roth", "Lea Graf", "Max Ried", "Nina Egli", "Otto Frei")
TOWNS = ("Chur", "Bern", "Thun", "Visp", "Olten", "Sion", "Biel", "Zug")


def text(number: int, sentence: str, *facts: tuple[str, str, str]) -> dict:
    """Return a document of one passage, without a title. facts: property, subject, object, by their first occurrence.

    Every property is annotated.
    """

    def ends(role: str, name: str) -> dict[str, Any]:
        start = 2 + sentence.index(name)
        return {f"{role}Start": start, f"{role}End": start + len(name), f"{role}Uri": ""}

    passage = {
        "passageId": f"{number}:2:{len(sentence) + 2}",
        "passageStart": 2,
        "passageEnd": len(sentence) + 2,
        "passageText": sentence,
        "exhaustivelyAnnotatedProperties": [{"propertyId": name, "propertyName": f"P{name}"} for name in ("2", "9")],
        "facts": [{"propertyId": p, **ends("subject", s), **ends("object", o)} for p, s, o in facts],
    }
    return {"documentId": str(number), "documentText": f"\n\n{sentence}", "passages": [passage]}


def train() -> list[dict]:
    lines = []
    for person in PEOPLE[:5]:
        for town in TOWNS[:2]:
            n = len(lines)
            lines += [
                text(n, f"{person} was born in {town}.", ("2", person, town)),
                text(n + 1, f"{person} lives in {town}.", ("9", person, town)),
                text(n + 2, f"{person} visited {town}, and he lives in Zug.", ("9", person, "Zug"), ("9", "he", "Zug")),
            ]
    return lines


def write(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def predict(folder: Path, name: str, *texts: str, aliases: str = "", seed: int = 0) -> list[list[tuple[str, ...]]]:
    """Return the facts of each text: property, subject, object, and their links."""
    inputs = [text(number, sentence) for number, sentence in enumerate(texts)]
    for line in inputs:
        for passage in line["passages"]:
            del passage["facts"], passage["exhaustivelyAnnotatedProperties"]
    files = {INPUTS: [write(folder / "inputs.jsonl", inputs)], "train": [write(folder / "train.jsonl", train())]}
    if aliases:
        files["aliases"] = [folder / "aliases.tsv"]
        files["aliases"][0].write_text(aliases)
    system = systems_of(TASK)[name]
    lines = list(system.predict(system.job(TASK, files, {}, seed)))
    assert [line["documentId"] for line in lines] == [line["documentId"] for line in inputs]
    return [
        sorted(
            (
                fact["propertyId"],
                source["documentText"][fact["subjectStart"] : fact["subjectEnd"]],
                source["documentText"][fact["objectStart"] : fact["objectEnd"]],
                fact["subjectUri"],
                fact["objectUri"],
            )
            for passage in line["passages"]
            for fact in passage["facts"]
        )
        for line, source in zip(lines, inputs, strict=True)
    ]


def test_facts_between_names_that_training_lacks(tmp_path: Path) -> None:
    sentences = ("Eva Kern was born in Lugano.", "Eva Kern lives in Lugano.", "Nothing here.", "")
    links = "eva kern\tperson/1\nLugano\tplace/1\nLugano\tplace/2\n"
    expected = [[(number, "Eva Kern", "Lugano", "person/1", "place/1")] for number in ("2", "9")]
    assert predict(tmp_path, "knowledgenet-1", *sentences, aliases=links) == [*expected, [], []]


def test_a_pronoun_is_the_documents_subject(tmp_path: Path) -> None:
    sentence = "Eva Kern visited Lugano, and he lives in Arth."
    links = "Eva Kern\tperson/1\n"
    for number, link in ((1, ""), (2, "person/1")):
        facts = predict(tmp_path, f"knowledgenet-{number}", sentence, aliases=links)
        assert facts == [[("9", "Eva Kern", "Arth", "person/1", ""), ("9", "he", "Arth", link, "")]]


def test_the_same_seed_gives_the_same_facts(tmp_path: Path) -> None:
    first, again = (predict(tmp_path, "knowledgenet-1", "Eva Kern lives in Lugano.", seed=4) for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("aliases", "Chur\tplace/1\nBern\n", "aliases:2: not an alias"),
        ("train", '{"documentId": 1}\n', "train:1: "),
        (INPUTS, '{"documentId": 1, "documentText": "", "passages": []}\n' * 2, "inputs:2: duplicate documentId"),
    ],
)
def test_wrong_files_are_refused_with_the_line(tmp_path: Path, kind: str, content: str, message: str) -> None:
    files = {INPUTS: [write(tmp_path / "inputs", [])], "train": [write(tmp_path / "train", train()[:3])]}
    files[INPUTS][0].write_text('{"documentId": 1, "documentText": "", "passages": []}\n')
    files["aliases"] = [tmp_path / "aliases"]
    files["aliases"][0].write_text("Chur\tplace/1\n")
    files[kind][0].write_text(content)
    system = systems_of(TASK)["knowledgenet-1"]
    with pytest.raises(FileError, match=message):
        list(system.predict(system.job(TASK, files, {}, 0)))


def test_training_documents_without_facts_are_refused(tmp_path: Path) -> None:
    line = text(1, "Ada Berg lives in Chur.")
    files = {kind: [write(tmp_path / kind, [line])] for kind in (INPUTS, "train")}
    system = systems_of(TASK)["knowledgenet-1"]
    with pytest.raises(UsageError, match="have no facts"):
        list(system.predict(system.job(TASK, files, {}, 0)))
