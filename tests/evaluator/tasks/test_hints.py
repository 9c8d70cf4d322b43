"""Valid predictions that match nothing: warnings and hints, which predictions and public inputs alone decide."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from tests.support.scoring_runs import run_prepare, run_score, run_validate, texts

Lines = list[dict[str, Any]]


def reports(task: str, gold: Lines, predictions: Lines) -> tuple[list[str], list[str], list[str]]:
    """The warnings of a validation, and the published warnings and the hints of a scoring."""
    prepared, inputs = run_prepare(task, gold)
    validated = run_validate(task, inputs, predictions, expects=prepared["expects"])
    assert validated["ok"], texts(validated)
    scored = run_score(task, gold, predictions)
    assert validated["warnings"] == [*scored["result"]["warnings"], *scored["hints"]]
    return validated["warnings"], scored["result"]["warnings"], scored["hints"]


def hints_of(task: str, gold: Lines, predictions: Lines) -> list[str]:
    """The hints about predictions, which no board shows."""
    _, published, hints = reports(task, gold, predictions)
    assert published == []
    return hints


def sets_of(page: str) -> Lines:
    return [{"id": 1, "claim": "c", "label": "SUPPORTS", "evidence": [[[1, 2, page, 3]]]}]


@pytest.mark.parametrize(
    ("gold", "predicted", "hint"),
    [
        ("Soul_Food_-LRB-film-RRB-", "Soul_Food_(film)", "brackets"),
        ("Soul_Food", "Soul Food", "underscores"),
        ("Alien-COLON-_Covenant", "Alien:_Covenant", "-COLON-"),
        (unicodedata.normalize("NFD", "Beyoncé"), unicodedata.normalize("NFC", "Beyoncé"), "NFD"),
        (unicodedata.normalize("NFD", "Beyoncé"), "Beyonc%C3%A9", "percent-encoded"),
    ],
)
def test_pages_that_are_not_spelled_as_in_fever(gold: str, predicted: str, hint: str) -> None:
    answer = {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [[predicted, 3]]}
    (warning,) = hints_of("fact-verification", sets_of(gold), [answer])
    assert hint in warning and "(line 1)" in warning and "character by character" in warning
    answer["predicted_evidence"] = [[gold, 3]]
    assert hints_of("fact-verification", sets_of(gold), [answer]) == []


def test_a_hint_does_not_depend_on_gold() -> None:
    answer = {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["Soul Food", 3]]}
    one, other = (hints_of("fact-verification", sets_of(page), [answer]) for page in ("Soul Food", "Soul_Food"))
    assert one == other and len(one) == 1


def questions(n: int = 12) -> Lines:
    return [
        {"id": i, "question": [f"firm {i}", "FOUNDED_BY", "?"], "answers": [f"jürgen {i}"], "filtered": []}
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("spell", "hint"),
    [
        (lambda text: text, ""),
        (lambda text: f" {text}", "white space"),
        (lambda text: text.replace(" ", "  "), "white space"),
        (lambda text: text.replace(" ", "\u00a0"), "cannot be seen"),
        (lambda text: unicodedata.normalize("NFD", text), "NFD"),
        (lambda text: text.replace("ü", "%c3%bc"), "percent-encoded"),
        (lambda text: text.replace(" ", "_"), "underscores"),
        (str.title, "capital letters"),
    ],
)
def test_mentions_that_are_not_spelled_as_in_the_questions(spell: Any, hint: str) -> None:
    answers = [{"id": line["id"], "ranking": [spell(line["answers"][0])]} for line in questions()]
    hints = hints_of("link-prediction", questions(), answers)
    assert [hint in text for text in hints] == [True] * bool(hint)
    assert bool(hint) == (run_score("link-prediction", questions(), answers)["result"]["scores"][0]["value"] == 0)


def test_what_inputs_have_is_not_reported() -> None:
    gold = [{**line, "question": ["Firm_A", "R", "?"], "answers": [f"Jürgen_{line['id']}"]} for line in questions()]
    answers = [{"id": line["id"], "ranking": line["answers"]} for line in gold]
    assert hints_of("link-prediction", gold, answers) == []
    few = [{"id": line["id"], "ranking": ["A_B"]} for line in questions(3)]
    assert hints_of("link-prediction", questions(3), few) == [], "three questions show no custom"


@pytest.mark.parametrize("subject", ["ada lovelace", "Ada_Lovelace", "Ada  Lovelace", " Ada Lovelace"])
def test_subjects_that_are_not_spelled_as_in_the_inputs(subject: str) -> None:
    gold = [{"id": 1, "facts": [["Ada Lovelace", "born in", "London"]], "subject": "Ada Lovelace", "text": "t"}]
    hints = hints_of("fact-extraction", gold, [{"id": 1, "facts": [[subject, "born in", "London"]]}])
    assert any("otherwise than in the inputs" in hint and "(line 1)" in hint for hint in hints)
    assert hints_of("fact-extraction", gold, [{"id": 1, "facts": gold[0]["facts"]}]) == []


TEXT = (
    "Zoë Ω. Kuß founded the Ωmega Gång 🏭 in Málaga. Her son Björn Kuß-Åkesson led it from 1901, after Zoë died. "
    "It closed in 1950."
)


def documents(n: int = 10) -> Lines:
    """Documents of two passages, of which the second has two facts: the son, and the founder."""
    half = TEXT.index("Her")
    return [
        {
            "documentId": str(i),
            "documentText": TEXT,
            "passages": [
                {
                    "passageId": f"{i}:{start}:{end}",
                    "passageStart": start,
                    "passageEnd": end,
                    "passageText": TEXT[start:end],
                    "exhaustivelyAnnotatedProperties": [{"propertyId": "4", "propertyName": "CEO"}],
                    "facts": [fact("Björn", "Her", i), fact("Zoë died", "led", i)] if start else [],
                }
                for start, end in ((0, half), (half, len(TEXT)))
            ],
        }
        for i in range(n)
    ]


def fact(subject: str, target: str, number: int) -> dict[str, Any]:
    begins, ends = TEXT.index(subject), TEXT.index(target, TEXT.index("Her"))
    return {
        "propertyId": "4",
        "subjectStart": begins,
        "subjectEnd": begins + len(subject),
        "objectStart": ends,
        "objectEnd": ends + len(target),
        "subjectUri": f"http://www.wikidata.org/entity/Q{number}1",
        "objectUri": f"http://www.wikidata.org/entity/Q{number}2",
    }


OFFSETS = ("subjectStart", "subjectEnd", "objectStart", "objectEnd")


def answers_with(change: Any) -> Lines:
    """The gold's facts as predictions, with each fact changed by `change(fact, start of its passage)`."""
    return [
        {
            "documentId": document["documentId"],
            "passageId": passage["passageId"],
            "facts": [{**line, **change(line, passage["passageStart"])} for line in passage["facts"]],
        }
        for document in documents()
        for passage in document["passages"]
    ]


def moved(move: Any) -> Any:
    return lambda line, start: {name: move(line[name], start) for name in OFFSETS}


KBP = "knowledge-base-population"


def test_offsets_that_count_from_the_start_of_the_passage() -> None:
    relative = answers_with(moved(lambda offset, start: offset - start))
    _, (warning,), hints = reports(KBP, documents(), relative)
    assert hints == []
    assert "20 facts have offsets outside their own passage (first on line 2)" in warning
    assert "20 of these facts fit if passageStart is added" in warning
    assert run_score(KBP, documents(), relative)["result"]["scores"][0]["value"] == 0


@pytest.mark.parametrize(
    "move",
    [
        lambda offset, start: len(TEXT[:offset].encode()),
        lambda offset, start: len(TEXT[:offset].encode("utf-16-le")) // 2,
        lambda offset, start: offset + 1,
    ],
    ids=["bytes", "UTF-16 units", "from 1"],
)
def test_offsets_that_count_something_else(move: Any) -> None:
    hints = hints_of(KBP, documents(), answers_with(moved(move)))
    assert any("begins or ends inside a word" in hint for hint in hints)


def test_scripts_without_spaces_give_no_hint() -> None:
    text = "北京大学位于中国的首都" * 4
    facts = [{**fact("Her", "led", 1), **dict(zip(OFFSETS, (i, i + 2, i + 3, i + 5), strict=True))} for i in range(25)]
    passage = {**documents(1)[0]["passages"][0], "passageId": "p", "passageStart": 0, "passageEnd": len(text)}
    gold = [{"documentId": "0", "documentText": text, "passages": [{**passage, "passageText": text, "facts": facts}]}]
    assert hints_of(KBP, gold, [{"documentId": "0", "passageId": "p", "facts": facts}]) == []


def test_spans_that_include_their_last_character() -> None:
    inclusive = answers_with(
        lambda line, start: {"subjectEnd": line["subjectEnd"] - 1, "objectEnd": line["objectEnd"] - 1}
    )
    assert any("ends before its end offset" in hint for hint in hints_of(KBP, documents(), inclusive))


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (lambda line, start: {}, ""),
        (lambda line, start: {"objectUri": ""}, "both a subjectUri and an objectUri"),
        (lambda line, start: {"objectUri": f"wd:{line['objectUri'][-2:]}"}, "by what follows the last slash"),
        (lambda line, start: {"objectUri": f"<{line['objectUri']}>"}, "by what follows the last slash"),
        (lambda line, start: {"objectUri": f"{line['objectUri']} "}, "by what follows the last slash"),
        (lambda line, start: {"objectUri": line["objectUri"].replace("Q", "q")}, "by what follows the last slash"),
    ],
)
def test_links_that_match_nothing(change: Any, hint: str) -> None:
    hints = hints_of(KBP, documents(), answers_with(change))
    assert [hint in text for text in hints] == [True] * bool(hint)


@pytest.mark.parametrize("task", ["fact-checking", "metric-correlation"])
def test_equal_scores_say_nothing(task: str) -> None:
    answers = [{"id": i, "score": 0.0} for i in range(12)]
    gold = [
        {"id": i, "subject": f"s{i}", "relation": "r", "object": "o", "label": i % 2 == 0, "group": i}
        if task == "fact-checking"
        else {"id": i, "human": i % 3}
        for i in range(12)
    ]
    (hint,) = hints_of(task, gold, answers)
    assert "all 12 scores are 0" in hint
    assert hints_of(task, gold, [{**line, "score": line["id"]} for line in answers]) == []
