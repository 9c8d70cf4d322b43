"""The pattern extractor on texts whose facts can be seen, and on the demonstration's."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.reference_systems import FIXTURES, Json, answers, lines, public

FIELDS = ("subjectStart", "subjectEnd", "objectStart", "objectEnd")
HIDDEN = ("facts", "exhaustivelyAnnotatedProperties")


def document(number: int, title: str, sentence: str, *facts: tuple[str, str, str]) -> Json:
    """A title and one passage behind it; `facts` are property, subject, object, each found in the sentence."""
    text = f"{title}\n\n{sentence}"
    start = len(title) + 2
    passage = {
        "passageId": f"{number}:{start}:{len(text)}",
        "passageStart": start,
        "passageEnd": len(text),
        "passageText": sentence,
        "facts": [fact(text, start, *one) for one in facts],
    }
    return {"documentId": str(number), "documentText": text, "passages": [passage]}


def fact(text: str, start: int, number: str, subject: str, value: str) -> Json:
    places = [(text.index(name, start), text.index(name, start) + len(name)) for name in (subject, value)]
    uris = {"subjectUri": f"person/{subject}", "objectUri": f"place/{value}"}
    return {"propertyId": number, **dict(zip(FIELDS, [at for place in places for at in place], strict=True)), **uris}


TRAIN = [
    document(1, "Ada Berg", "Ada Berg was born in Chur.", ("2", "Ada Berg", "Chur")),
    document(2, "Émile Noir", "Émile Noir was born in Bern, they say.", ("2", "Émile Noir", "Bern")),
    document(3, "Ada Berg", "She lives in Chur.", ("9", "She", "Chur")),
    document(4, "Émile Noir", "He lives in Bern.", ("9", "He", "Bern")),
    # One occurrence is too few, and so are two of five.
    document(5, "Ada Berg", "Ada Berg visited Bern.", ("9", "Ada Berg", "Bern")),
    *(document(n, "Ada Berg", "Ada Berg went to Bern.", ("9", "Ada Berg", "Bern")) for n in (6, 7)),
    *(document(n, "Ada Berg", "Ada Berg went to Chur.") for n in (8, 9, 10)),
]


def extracted(folder: Path, *texts: Json) -> list[tuple[str, str, str, str, str]]:
    """(property, subject, object, subject's URI, object's URI), cut out of the documents by the offsets."""
    train = "".join(json.dumps(one) + "\n" for one in TRAIN)
    made = answers("pattern-extractor", folder, {"train.jsonl": train}, [blind(one) for one in texts])
    assert [line["passageId"] for line in made] == [p["passageId"] for one in texts for p in one["passages"]]
    whole = {one["documentId"]: one["documentText"] for one in texts}
    return [
        (
            found["propertyId"],
            whole[line["documentId"]][found["subjectStart"] : found["subjectEnd"]],
            whole[line["documentId"]][found["objectStart"] : found["objectEnd"]],
            found["subjectUri"],
            found["objectUri"],
        )
        for line in made
        for found in line["facts"]
    ]


def blind(one: Json) -> Json:
    passages = [{key: value for key, value in p.items() if key not in HIDDEN} for p in one["passages"]]
    return {**one, "passages": passages}


def test_a_pattern_finds_names_that_were_never_seen(tmp_path: Path) -> None:
    # A sign outside the basic plane, decomposed accents: offsets are code points.
    text = document(7, "Zoe\u0301 Ås", "\U0001f702 Zoe\u0301 Ås was born in Chur.")
    assert extracted(tmp_path, text) == [("2", "Zoe\u0301 Ås", "Chur", "", "place/Chur")]


def test_a_pronoun_is_whom_the_title_names(tmp_path: Path) -> None:
    text = document(20, "Ada Berg", "Later he lives in Bern.")
    assert extracted(tmp_path, text) == [("9", "he", "Bern", "person/Ada Berg", "place/Bern")]
    short = document(21, "Ada Berg", "Berg was born in Chur.")
    assert extracted(tmp_path, short) == [("2", "Berg", "Chur", "person/Ada Berg", "place/Chur")]


def test_a_rare_pattern_and_one_that_mostly_states_nothing_are_not_kept(tmp_path: Path) -> None:
    texts = [document(20, "Ada Berg", "Ada Berg visited Chur."), document(21, "Ada Berg", "Ada Berg went to Bern.")]
    assert extracted(tmp_path, *texts) == []


def test_on_the_demonstration_what_it_finds_is_mostly_there(tmp_path: Path) -> None:
    gold = lines(FIXTURES / "atlas-facts" / "splits" / "dev.jsonl")
    data = {"train.jsonl": public("atlas-facts", "splits/train.jsonl")}
    made = answers("pattern-extractor", tmp_path, data, [blind(one) for one in gold])
    passages = {p["passageId"]: p for one in gold for p in one["passages"]}
    assert [line["passageId"] for line in made] == list(passages)

    def spans(facts: list[Json]) -> set[tuple[object, ...]]:
        return {(one["propertyId"], *(one[name] for name in FIELDS)) for one in facts}

    found = true = right = 0
    for line in made:
        passage = passages[line["passageId"]]
        judged = {one["propertyId"] for one in passage["exhaustivelyAnnotatedProperties"]}
        ours = {one for one in spans(line["facts"]) if one[0] in judged}
        found, true = found + len(ours), true + len(spans(passage["facts"]))
        right += len(ours & spans(passage["facts"]))
    assert right / found > 0.85
    assert right / true > 0.4
