"""fact-extraction: one test for each sentence of the protocol."""

import json

import pytest

from tests.support.scoring_runs import cut, run_prepare, run_score, run_validate, table, texts

TASK = "fact-extraction"
ADA, BORN, LONDON, CHILD, BYRON = "Ada", "born in", "London", "child of", "Byron"
MICRO = ("precision", "recall", "f1", "fact_acc")
MACRO = ("fact_acc_macro", "fact_acc_macro_zero")


def text(name, *facts, **extra):
    return {"id": name, "facts": [list(fact) for fact in facts], **extra}


def score(gold, *predictions):
    return table(run_score(TASK, gold, list(predictions)))


def whole(scores):
    return {measure: value for (measure, where), (value, _) in scores.items() if where == "{}"}


def test_measures_worked_by_hand():
    """Text 1: gold {born, child}; predicted: born correct, child wrong, and a relation that gold lacks.
    Text 2: one gold fact, another subject predicted: not verifiable. Text 3: correct.
    2 of 5 predicted facts are correct, of 4 gold facts; 3 are verifiable."""
    gold = [
        text(1, (ADA, BORN, LONDON), (ADA, CHILD, BYRON)),
        text(2, ("Grace", BORN, "New York")),
        text(3, ("Alan", BORN, LONDON)),
    ]
    predicted = [
        text(1, (ADA, BORN, LONDON), (ADA, CHILD, "Babbage"), (ADA, "friend of", "Babbage")),
        text(2, ("Hopper", BORN, "New York")),
        text(3, ("Alan", BORN, LONDON)),
    ]
    scores = score(gold, *predicted)
    assert whole(scores) == {
        "precision": cut(2 / 5),
        "recall": cut(2 / 4),
        "f1": cut(2 * 2 / (5 + 4)),
        "fact_acc": cut(2 / 3),
        "fact_acc_macro": cut((1 / 2 + 1) / 2),
        "fact_acc_macro_zero": cut((1 / 2 + 0 + 1) / 3),
    }
    assert {n for (_, where), (_, n) in scores.items() if where == "{}"} == {4}
    born = {measure: scores[measure, f'{{"relation": "{BORN}"}}'] for measure in MICRO}
    two_thirds = (cut(2 / 3), 3)
    assert born == {"precision": two_thirds, "recall": two_thirds, "f1": two_thirds, "fact_acc": (1.0, 3)}
    child = {measure: scores[measure, f'{{"relation": "{CHILD}"}}'] for measure in MICRO}
    assert child == {"precision": (0.0, 1), "recall": (0.0, 1), "f1": (0.0, 1), "fact_acc": (0.0, 1)}


def test_facts_are_sets():
    fact = (ADA, BORN, LONDON)
    scores = score([text(1, fact, fact, (ADA, CHILD, BYRON))], text(1, fact, fact, fact))
    assert whole(scores) == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "fact_acc": 1.0,
        "fact_acc_macro": 1.0,
        "fact_acc_macro_zero": 1.0,
    }
    assert scores["recall", "{}"][1] == 2


@pytest.mark.parametrize(
    "predicted",
    [("ada", BORN, LONDON), (ADA, BORN, "London "), (ADA, "Born in", LONDON), (LONDON, BORN, ADA), (ADA, BORN, "")],
    ids=str,
)
def test_facts_are_compared_exactly(predicted):
    assert whole(score([text(1, (ADA, BORN, LONDON))], text(1, predicted)))["recall"] == 0.0


def test_a_fact_of_another_text_is_wrong_and_not_verifiable():
    gold = [text(1, (ADA, BORN, LONDON)), text(2, (ADA, CHILD, BYRON))]
    values = whole(score(gold, text(1, (ADA, CHILD, BYRON)), text(2, (ADA, BORN, LONDON))))
    assert (values["precision"], values["recall"], values["fact_acc"]) == (0.0, 0.0, None)


def test_several_objects_of_one_subject_and_relation():
    """Two gold objects, three predicted ones of which one is right: three are verifiable, one is correct."""
    gold = [text(1, (ADA, CHILD, "a"), (ADA, CHILD, "b"))]
    values = whole(score(gold, text(1, (ADA, CHILD, "a"), (ADA, CHILD, "c"), (ADA, CHILD, "d"))))
    assert (values["precision"], values["recall"]) == (pytest.approx(1 / 3), 0.5)
    assert values["fact_acc"] == values["fact_acc_macro"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("predicted", [[], [("Grace", BORN, LONDON)], [(ADA, "likes", LONDON)]], ids=str)
def test_nothing_verifiable(predicted):
    values = whole(score([text(1, (ADA, BORN, LONDON)), text(2)], text(1, *predicted)))
    assert values == dict.fromkeys(("precision", "recall", "f1"), 0.0) | dict.fromkeys(("fact_acc", *MACRO))


def test_texts_without_verifiable_facts_count_in_the_mean_with_zero_only():
    gold = [text(i, (ADA, BORN, LONDON)) for i in range(3)] + [text(3)]
    values = whole(score(gold, text(0, (ADA, BORN, LONDON))))
    assert (values["fact_acc"], values["fact_acc_macro"], values["fact_acc_macro_zero"]) == (1.0, 1.0, 0.25)


def test_predicted_facts_of_other_relations_count_in_the_whole_only():
    gold = [text(1, (ADA, BORN, LONDON), slices={"kind": "person"})]
    scores = score(gold, text(1, (ADA, BORN, LONDON), (ADA, "likes", "tea"), (ADA, "likes", "cake")))
    assert scores["precision", "{}"] == (pytest.approx(1 / 3), 1)
    assert scores["precision", '{"kind": "person"}'] == (pytest.approx(1 / 3), 1)
    assert scores["precision", f'{{"relation": "{BORN}"}}'] == (1.0, 1)
    assert {where for _, where in scores} == {"{}", '{"kind": "person"}', f'{{"relation": "{BORN}"}}'}


def test_a_relation_of_gold_counts_in_texts_that_do_not_have_it():
    gold = [text(1, (ADA, BORN, LONDON)), text(2, (ADA, CHILD, BYRON))]
    scores = score(gold, text(1, (ADA, BORN, LONDON)), text(2, ("x", BORN, "y")))
    assert scores["precision", f'{{"relation": "{BORN}"}}'] == (0.5, 1)
    assert scores["recall", f'{{"relation": "{CHILD}"}}'] == (0.0, 1)


def test_means_over_texts_exist_for_the_whole_and_declared_slices_that_split_no_group():
    gold = [
        text(1, (ADA, BORN, LONDON), group="g", slices={"kind": 1, "cut": 1}),
        text(2, (ADA, CHILD, BYRON), group="g", slices={"kind": 1, "cut": 2}),
    ]
    names = {}
    for measure, where in score(gold, gold[0] | {"group": 0}):
        names.setdefault(where, set()).add(measure)
    assert names == {
        "{}": {*MICRO, *MACRO},
        '{"kind": 1}': {*MICRO, *MACRO},
        '{"cut": 1}': {*MICRO},
        '{"cut": 2}': {*MICRO},
        f'{{"relation": "{BORN}"}}': {*MICRO},
        f'{{"relation": "{CHILD}"}}': {*MICRO},
    }


def test_a_declared_relation_overrides_the_field():
    gold = [
        text(1, (ADA, BORN, LONDON), (ADA, CHILD, BYRON), slices={"relation": "mine"}),
        text(2, (ADA, BORN, LONDON), slices={"relation": "yours"}),
    ]
    scores = score(gold, text(1, (ADA, BORN, LONDON), (ADA, "likes", "tea")), text(2))
    assert scores["precision", '{"relation": "mine"}'] == (0.5, 2)
    assert scores["fact_acc_macro_zero", '{"relation": "mine"}'] == (1.0, 2)
    assert scores["recall", '{"relation": "yours"}'] == (0.0, 1)
    assert {where for _, where in scores} == {"{}", '{"relation": "mine"}', '{"relation": "yours"}'}


def test_a_slice_without_gold_facts_has_no_value():
    gold = [text(1, (ADA, BORN, LONDON), slices={"kind": 1}), text(2, slices={"kind": 2})]
    scores = score(gold, text(1), text(2, (ADA, BORN, LONDON)))
    assert {scores[measure, '{"kind": 2}'] for measure in (*MICRO, *MACRO)} == {(None, 0)}
    assert scores["precision", '{"kind": 1}'] == (0.0, 1)


def test_gold_without_any_fact_has_no_values():
    report = run_score(TASK, [text(1), text(2)], [text(1, (ADA, BORN, LONDON))], resamples=10)
    assert set(table(report).values()) == {(None, 0)}
    assert report["result"]["n_units"] == 0


def test_a_missing_text_counts_as_empty():
    gold = [text(f"t{i}", (ADA, BORN, LONDON)) for i in range(3)]
    report = run_score(TASK, gold, [text("t1", (ADA, BORN, LONDON))])
    assert table(report)["recall", "{}"] == (cut(1 / 3), 3)
    assert report["result"]["warnings"] == [
        'predictions.jsonl: 2 ids are missing and scored like an empty answer: "t0", "t2"'
    ]


def test_texts_are_resampled_whole():
    """Two texts, one correct and one wrong: every resample has recall 0, 1/2 or 1, although there are six facts."""
    facts = [(ADA, BORN, str(i)) for i in range(3)]
    report = run_score(TASK, [text(1, *facts), text(2, *facts)], [text(1, *facts)], resamples=200)
    (recall,) = (row for row in report["result"]["scores"] if row["measure"] == "recall" and not row["slice"])
    assert (recall["value"], recall["low"], recall["high"]) == (0.5, 0.0, 1.0)
    assert (report["result"]["n_units"], report["result"]["n_groups"]) == (6, 2)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"id": 1}, "facts is missing"),
        ({"facts": []}, "id is missing"),
        ({"id": 1, "facts": None}, "facts has the wrong type, found null"),
        ({"id": 1, "facts": {}}, "facts has the wrong type, found an object"),
        ({"id": 1, "facts": [["a", "r"]]}, "facts[0] has the wrong length"),
        ({"id": 1, "facts": [["a", "r", "b", 0.5]]}, "facts[0] has the wrong length"),
        ({"id": 1, "facts": ["arb"]}, "facts[0] has the wrong type, found a string"),
        ({"id": 1, "facts": [{"subject": "a"}]}, "facts[0] has the wrong type, found an object"),
        ({"id": 1, "facts": [["a", 1, "b"]]}, "facts[0][1] has the wrong type, found an integer"),
        ({"id": 1, "facts": [["a", "r", None]]}, "facts[0][2] has the wrong type, found null"),
        ({"id": "1", "facts": []}, 'unknown id, found "1" (a string), expected an integer'),
        ({"id": 2, "facts": []}, "unknown id, found 2"),
    ],
    ids=str,
)
def test_bad_predictions(line, what):
    for report in (
        run_score(TASK, [text(1)], [line]),
        run_validate(TASK, run_prepare(TASK, [text(1)])[1], [line]),
    ):
        assert report["fault"] == "predictions"
        assert texts(report)[0].startswith(f"predictions.jsonl:1: {what}")


def test_a_duplicate_id_is_refused():
    report = run_score(TASK, [text(1)], [text(1), text(1, (ADA, BORN, LONDON))])
    assert texts(report) == ["predictions.jsonl:2: duplicate id, found 1 (first on line 1), expected each id once"]


def test_a_submission_cannot_bring_its_own_gold():
    line = text(1, (ADA, BORN, "Rome"), text="t", group=3, slices={"kind": 1})
    report = run_score(TASK, [text(1, (ADA, BORN, LONDON))], [line])
    assert table(report)["recall", "{}"] == (0.0, 1)
    assert len(report["result"]["warnings"]) == 3


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"facts": [["SECRET", "r"]]}, "facts[0] has the wrong length"),
        ({"facts": [["SECRET", "r", 1]]}, "facts[0][2] has the wrong type"),
        ({"facts": "SECRET"}, "facts has the wrong type"),
        ({"text": None}, "text has the wrong type"),
        ({"subject": ["SECRET"]}, "subject has the wrong type"),
        ({"id": 0}, "duplicate id"),
        ({"id": "1"}, "id has another type"),
        ({"slices": {"relation": ["SECRET"]}}, "slices"),
    ],
    ids=str,
)
def test_bad_gold(changed, what):
    report = run_score(TASK, [text(0), text(1, ("SECRET", "r", "b")) | changed], [text(0)])
    assert report["fault"] == "gold"
    assert texts(report)[0].startswith(f"gold.jsonl:2: {what}")
    assert "SECRET" not in str(report)


def test_inputs_reveal_no_gold():
    gold = [
        text(i, *[("SECRET", "SECRET", "SECRET")] * (i % 3), group="SECRET", slices={"SECRET": 1}) for i in range(30)
    ]
    gold[0] |= {"text": "Ada lived.", "subject": "Ada"}
    gold[1] |= {"text": "Ada wrote."}
    prepared, inputs = run_prepare(TASK, gold)
    lines = {line["id"]: line for line in map(json.loads, inputs.splitlines())}
    assert lines[0] == {"id": 0, "text": "Ada lived.", "subject": "Ada"}
    assert lines[1] == {"id": 1, "text": "Ada wrote."}
    assert all(lines[i] == {"id": i} for i in range(2, 30))
    assert b"SECRET" not in inputs
    assert run_prepare(TASK, gold[::-1])[1] == inputs
    assert (prepared["n_units"], prepared["n_groups"], prepared["primary"]) == (20, 1, "f1")
    assert prepared["dimensions"]["relation"] == ["SECRET"]
