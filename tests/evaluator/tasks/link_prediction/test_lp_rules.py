"""link-prediction: one test for each sentence of the protocol."""

import json

import pytest

from tests.support.scoring_runs import cut, run_prepare, run_score, run_validate, table, texts

TASK = "link-prediction"
NBC = {
    "id": 1,
    "question": ["NBC-TV", "has office in", "?"],
    "answers": ["NYC", "New York City", "New York"],
    "filtered": ["Los Angeles"],
}
RANKING = ["Marseille", "Los Angeles", "John", "New York", "NYC"]


def ask(name, answers=("a",), filtered=(), **extra):
    return {"id": name, "question": ["s", "r", "?"], "answers": list(answers), "filtered": list(filtered), **extra}


def rank(*ranking, answers=("a",), filtered=(), **options):
    """The rank of a question's first answer, or None if it is not found."""
    gold = [ask(1, answers, filtered)]
    scores = table(run_score(TASK, gold, [{"id": 1, "ranking": list(ranking)}], **options))
    reciprocal = scores["mrr", "{}"][0]
    first = round(1 / reciprocal) if reciprocal else None
    for k in (1, 3, 10, 50):
        assert scores[f"hits@{k}", "{}"] == (float(first is not None and first <= k), 1)
    return first


def test_the_papers_example():
    scores = table(run_score(TASK, [NBC], [{"id": 1, "ranking": RANKING}]))
    assert scores["mrr", "{}"] == (cut(1 / 3), 1)
    assert (scores["hits@1", "{}"], scores["hits@3", "{}"]) == ((0.0, 1), (1.0, 1))
    raw = table(run_score(TASK, [NBC], [{"id": 1, "ranking": RANKING}], setting="raw"))
    assert raw["mrr", "{}"] == (1 / 4, 1)
    assert (raw["hits@3", "{}"], raw["hits@10", "{}"]) == ((0.0, 1), (1.0, 1))


def test_measures_worked_by_hand():
    """Ranks 1, 3, 11 and none: (1 + 1/3 + 1/11) / 4.

    One of four is first, two are within three and ten, three within 50.
    """
    gold = [ask(i) for i in range(4)]
    rankings = [["a"], ["x", "y", "a"], [*map(str, range(10)), "a"], ["x"]]
    scores = table(run_score(TASK, gold, [{"id": i, "ranking": r} for i, r in enumerate(rankings)]))
    assert scores["mrr", "{}"] == (cut(47 / 132), 4)
    assert [scores[f"hits@{k}", "{}"] for k in (1, 3, 10, 50)] == [(0.25, 4), (0.5, 4), (0.5, 4), (0.75, 4)]


def test_the_first_of_duplicates_is_kept():
    assert rank("x", "x", "x", "a") == 2
    assert rank("x", "x", "x", "a", setting="raw") == 2
    assert rank("a", "a") == 1


def test_other_known_answers_take_no_rank():
    assert rank("f", "x", "f", "g", "a", filtered=["f", "g", "never ranked"]) == 2
    assert rank("f", "x", "f", "g", "a", filtered=["f", "g"], setting="raw") == 4


@pytest.mark.parametrize("setting", ["filtered", "raw"])
def test_an_answer_that_is_also_filtered_still_counts(setting):
    assert rank("x", "a", filtered=["a"], setting=setting) == 2


def test_the_first_of_several_answers_counts():
    assert rank("x", "b", "a", answers=["a", "b"]) == 2
    assert rank("x", "b", "a", answers=["a", "b"], filtered=["x"]) == 1


@pytest.mark.parametrize("ranking", [[], ["x"], ["A"], [" a"], ["a "], ["a\u0301"], ["\u0430"]], ids=ascii)
def test_mentions_are_compared_exactly(ranking):
    assert rank(*ranking) is None


def test_composed_and_decomposed_mentions_differ():
    assert rank("e\u0301", "\u00e9", answers=["\u00e9"]) == 2


def test_a_ranking_has_at_most_a_thousand_mentions():
    junk = [f"junk {n}" for n in range(999)]
    assert rank(*junk, "a") == 1000
    for ranking in ([*junk, "a", "b"], ["a"] * 1001):
        report = run_score(TASK, [ask(1)], [{"id": 1, "ranking": ranking}])
        assert texts(report) == [
            "predictions.jsonl:1: ranking is too long, found 1001 mentions, expected at most 1000 mentions"
        ]
        assert not run_validate(TASK, run_prepare(TASK, [ask(1)])[1], [{"id": 1, "ranking": ranking}])["ok"]


def test_a_missing_question_counts_as_not_found():
    report = run_score(TASK, [ask(i) for i in range(12)], [{"id": 0, "ranking": ["a"]}])
    assert table(report)["mrr", "{}"] == (cut(1 / 12), 12)
    assert report["result"]["warnings"] == [
        "predictions.jsonl: 11 ids are missing and scored like an empty answer: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..."
    ]


def test_sides_follow_from_the_question():
    gold = [ask(1), ask(2) | {"question": ["?", "r", "o"]}, ask(3)]
    scores = table(run_score(TASK, gold, [{"id": 1, "ranking": ["a"]}, {"id": 2, "ranking": ["x", "a"]}]))
    assert scores["mrr", '{"side": "tail"}'] == (0.5, 2)
    assert scores["mrr", '{"side": "head"}'] == (0.5, 1)
    assert {where for _, where in scores} == {"{}", '{"side": "tail"}', '{"side": "head"}'}


def test_a_declared_side_overrides_the_field():
    gold = [ask(1, slices={"side": "object"}), ask(2)]
    scores = table(run_score(TASK, gold, [{"id": 1, "ranking": ["a"]}, {"id": 2, "ranking": []}]))
    assert scores["hits@1", '{"side": "object"}'] == (1.0, 1)
    assert scores["hits@1", '{"side": "tail"}'] == (0.0, 1)


@pytest.mark.parametrize("setting", ["", "Filtered", "none", "filtered,raw"])
def test_there_are_two_settings(setting):
    report = run_score(TASK, [ask(1)], [{"id": 1, "ranking": []}], setting=setting)
    assert report["fault"] == "usage"
    assert "expected filtered or raw" in texts(report)[0]


def test_questions_of_a_group_are_resampled_together():
    gold = [ask(i, group=i % 2) for i in range(10)]
    report = run_score(TASK, gold, [{"id": i, "ranking": ["a"] * (i % 2)} for i in range(10)], resamples=200)
    assert report["result"]["n_groups"] == 2
    (mrr,) = (row for row in report["result"]["scores"] if row["measure"] == "mrr" and not row["slice"])
    assert (mrr["value"], mrr["low"], mrr["high"]) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"id": 1}, "ranking is missing"),
        ({"ranking": []}, "id is missing"),
        ({"id": 1, "ranking": None}, "ranking has the wrong type, found null"),
        ({"id": 1, "ranking": "a"}, "ranking has the wrong type, found a string"),
        ({"id": 1, "ranking": {"a": 1}}, "ranking has the wrong type, found an object"),
        ({"id": 1, "ranking": ["a", 1]}, "ranking[1] has the wrong type, found an integer"),
        ({"id": 1, "ranking": [["a", 0.5]]}, "ranking[0] has the wrong type, found a list"),
        ({"id": 1, "ranking": [None]}, "ranking[0] has the wrong type, found null"),
        ({"id": 1, "ranking": [True]}, "ranking[0] has the wrong type, found true or false"),
        ({"id": "1", "ranking": []}, 'unknown id, found "1" (a string), expected an integer'),
        ({"id": 1.0, "ranking": []}, "id has the wrong type"),
        ({"id": True, "ranking": []}, "id has the wrong type"),
        ({"id": 2, "ranking": []}, "unknown id, found 2"),
    ],
    ids=str,
)
def test_bad_predictions(line, what):
    for report in (
        run_score(TASK, [ask(1)], [line]),
        run_validate(TASK, run_prepare(TASK, [ask(1)])[1], [line]),
    ):
        assert report["fault"] == "predictions"
        assert texts(report)[0].startswith(f"predictions.jsonl:1: {what}")


def test_a_duplicate_id_is_refused():
    report = run_score(TASK, [ask(1)], [{"id": 1, "ranking": ["x"]}, {"id": 1, "ranking": ["a"]}])
    assert texts(report) == ["predictions.jsonl:2: duplicate id, found 1 (first on line 1), expected each id once"]


def test_a_submission_cannot_bring_its_own_gold():
    line = {"id": 1, "ranking": ["x"], "answers": ["x"], "filtered": [], "group": 2, "slices": {"side": "x"}}
    report = run_score(TASK, [ask(1)], [line])
    assert table(report)["mrr", "{}"] == (0.0, 1)
    assert len(report["result"]["warnings"]) == 4


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"question": ["s", "r", "o"]}, 'question does not have "?" as one of'),
        ({"question": ["?", "r", "?"]}, 'question does not have "?" as one of'),
        ({"question": ["s", "?", "o"]}, 'question does not have "?" as one of'),
        ({"question": ["s", "?"]}, "question has the wrong length"),
        ({"question": ["s", "r", 1]}, "question[2] has the wrong type"),
        ({"answers": "a"}, "answers has the wrong type"),
        ({"answers": [["a"]]}, "answers[0] has the wrong type"),
        ({"filtered": None}, "filtered has the wrong type"),
        ({"filtered": [1]}, "filtered[0] has the wrong type"),
        ({"id": None}, "id has the wrong type"),
        ({"slices": {"side": None}}, "slices"),
        ({"group": 1.5}, "group has the wrong type"),
    ],
    ids=str,
)
def test_bad_gold(changed, what):
    line = ask(1, answers=["SECRET"], filtered=["SECRET"]) | changed
    report = run_score(TASK, [ask(0), line], [{"id": 0, "ranking": []}])
    assert report["fault"] == "gold"
    assert texts(report)[0].startswith(f"gold.jsonl:2: {what}")
    assert "SECRET" not in str(report)


@pytest.mark.parametrize("key", ["id", "question", "answers", "filtered"])
def test_gold_needs_each_of_its_fields(key):
    line = ask(1)
    line.pop(key)
    assert texts(run_prepare(TASK, [line])[0])[0].startswith(f"gold.jsonl:1: {key} is missing")


def test_an_invalid_question_does_not_hide_a_duplicate_id():
    gold = [ask(1) | {"question": ["?", "r", "?"]}, ask(1)]
    assert len(texts(run_prepare(TASK, gold)[0])) == 2


def test_a_question_without_answers_gives_a_warning_and_is_never_found():
    prepared, _ = run_prepare(TASK, [ask(1), ask(2, answers=[])])
    assert prepared["warnings"] == ["gold.jsonl: questions without answers, which no system can answer: 2"]
    assert rank("", "x", answers=[]) is None


def test_inputs_reveal_no_gold():
    gold = [
        ask(i, ["SECRET"], ["SECRET"], group=f"SECRET{i // 2}", slices={"SECRET": "SECRET"})
        | {"question": [f"s{i}", "r", "?"] if i % 2 else ["?", "r", f"o{i}"]}
        for i in range(40)
    ]
    prepared, inputs = run_prepare(TASK, gold)
    lines = [json.loads(line) for line in inputs.splitlines()]
    assert all(line.keys() == {"id", "question"} for line in lines)
    assert b"SECRET" not in inputs
    assert {line["id"]: line["question"] for line in lines} == {line["id"]: line["question"] for line in gold}
    assert [line["id"] for line in lines] != [line["id"] for line in gold]
    assert run_prepare(TASK, gold[::-1])[1] == inputs
    assert (prepared["n_units"], prepared["n_groups"], prepared["primary"]) == (40, 20, "mrr")
    assert prepared["dimensions"]["side"] == ["head", "tail"]
