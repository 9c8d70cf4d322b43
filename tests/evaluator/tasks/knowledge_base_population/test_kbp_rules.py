"""knowledge-base-population: one test for each sentence of the protocol."""

import copy
import json

import pytest

from tests.support.scoring_runs import run_prepare, run_score, run_validate, table, texts

TASK = "knowledge-base-population"
NAMES = {"1": "SUBSIDIARY_OF", "4": "CEO", "5": "DATE_FOUNDED", "9": "EDUCATED_AT"}


def fact(prop="4", subject=(0, 3), target=(5, 9), uris=("", "")):
    return {
        "propertyId": prop,
        "subjectStart": subject[0],
        "subjectEnd": subject[1],
        "objectStart": target[0],
        "objectEnd": target[1],
        "subjectUri": uris[0],
        "objectUri": uris[1],
    }


def passage(name, facts, annotated=("1", "4", "5")):
    return {
        "passageId": name,
        "passageStart": 0,
        "passageEnd": 20,
        "passageText": "x" * 20,
        "exhaustivelyAnnotatedProperties": [{"propertyId": p, "propertyName": NAMES[p]} for p in annotated],
        "facts": facts,
    }


def document(name, *passages, fold=1, **extra):
    return {"fold": fold, "documentId": name, "documentText": "x" * 20, "passages": list(passages), **extra}


def answer(name, passage_name, *facts):
    return {"documentId": name, "passageId": passage_name, "facts": list(facts)}


def score(gold, *answers, **options):
    return table(run_score(TASK, gold, list(answers), **options))


def counts(gold, *answers, mode="text", where="{}"):
    """(precision, recall) of a mode."""
    scores = score(gold, *answers)
    return scores[f"{mode}_precision", where][0], scores[f"{mode}_recall", where][0]


ONE = [document("d", passage("p", [fact()]))]


@pytest.mark.parametrize(
    ("span", "overlaps"),
    [
        ((5, 9), True),
        ((3, 6), True),
        ((8, 12), True),
        ((0, 20), True),
        ((6, 7), True),
        ((9, 12), False),
        ((1, 5), False),
        ((5, 5), True),
        ((9, 9), True),  # an empty span at gold's end: gold.start < end <= gold.end
        ((4, 4), False),
        ((10, 10), False),
        ((7, 7), True),
        ((8, 2), True),  # inverted: its start is inside gold
        ((30, 6), True),  # inverted: its end is inside gold
        ((30, 5), False),
        ((30, 40), False),
        ((-4, -2), False),
        ((-(10**30), 10**30), True),
    ],
)
def test_text_overlap(span, overlaps):
    assert counts(ONE, answer("d", "p", fact(target=span)))[1] == float(overlaps)


def test_exact_needs_both_spans_and_the_property():
    assert counts(ONE, answer("d", "p", fact()), mode="exact") == (1, 1)
    assert counts(ONE, answer("d", "p", fact(target=(5, 8))), mode="exact") == (0, 0)
    assert counts(ONE, answer("d", "p", fact(subject=(0, 4))), mode="exact") == (0, 0)
    assert counts(ONE, answer("d", "p", fact(prop="1")), mode="exact")[1] == 0


def test_an_empty_span_that_equals_gold_is_exact():
    gold = [document("d", passage("p", [fact(target=(5, 5))]))]
    assert counts(gold, answer("d", "p", fact(target=(5, 5))), mode="exact") == (1, 1)


def test_an_empty_span_matches_gold_and_is_also_a_false_positive():
    scores = score(ONE, answer("d", "p", fact(target=(6, 6))))
    assert scores["text_recall", "{}"] == (1.0, 1)
    assert scores["text_precision", "{}"] == (0.5, 1)


def test_an_empty_span_leaves_the_pool_when_another_match_overlaps_it():
    assert counts(ONE, answer("d", "p", fact(target=(6, 6)), fact())) == (1, 1)


def test_duplicates_are_ignored_and_one_prediction_matches_several_gold_facts():
    gold = [document("d", passage("p", [fact(target=(5, 7)), fact(target=(7, 9))]))]
    assert counts(gold, answer("d", "p", *[fact(target=(5, 9))] * 4)) == (1, 1)


def test_a_prediction_that_overlaps_a_match_but_not_gold_leaves_the_pool():
    chained = fact(target=(9, 12))  # touches gold's end, overlaps the match
    assert counts(ONE, answer("d", "p", fact(target=(7, 11)), chained)) == (1, 1)
    assert counts(ONE, answer("d", "p", chained)) == (0, 0)


@pytest.mark.parametrize(
    ("predicted_uri", "gold_uri", "same"),
    [
        ("http://www.wikidata.org/entity/Q1", "https://x/Q1", True),
        ("Q1", "a/Q1/", True),
        ("a/Q1///", "a/Q1", True),
        ("a/q1", "a/Q1", False),
        ("a/Q1#", "a/Q1", False),
        ("/", "//", True),  # not empty as written, and empty segments are equal
        (" ", " ", True),
    ],
)
def test_links_are_compared_by_their_last_segment(predicted_uri, gold_uri, same):
    gold = [document("d", passage("p", [fact(uris=("S", gold_uri))]))]
    assert counts(gold, answer("d", "p", fact(uris=("S", predicted_uri))), mode="link") == (float(same), float(same))


def test_links_drop_empty_uris_dates_and_repeats():
    linked = fact(uris=("S", "O"))
    gold_facts = [linked, fact(uris=("S", "")), fact("5", uris=("S", "O")), dict(linked, objectStart=1)]
    gold = [document("d", passage("p", gold_facts))]
    scores = score(gold, answer("d", "p", fact("5", uris=("S", "X")), fact(uris=("", "X"))))
    assert scores["link_recall", "{}"] == (0.0, 1)
    assert scores["link_f1", '{"property": "DATE_FOUNDED"}'] == (None, 0)
    assert scores["text_recall", '{"property": "DATE_FOUNDED"}'][1] == 1
    assert score(gold, answer("d", "p", linked, linked))["link_precision", "{}"] == (1.0, 1)


def test_two_raw_uris_with_one_segment_are_two_gold_facts():
    gold = [document("d", passage("p", [fact(uris=("S", "a/O")), fact(uris=("S", "b/O"))]))]
    assert score(gold, answer("d", "p", fact(uris=("S", "O"))))["link_f1", "{}"] == (1.0, 2)


def test_links_score_only_properties_that_still_have_a_gold_fact():
    gold = [document("d", passage("p", [fact(uris=("S", "O")), fact("1", uris=("S", ""))]))]
    scores = score(gold, answer("d", "p", fact(uris=("S", "O")), fact("1", uris=("S", "X"))))
    assert scores["link_precision", "{}"] == (1.0, 1)
    assert scores["macro_link_f1", "{}"] == (1.0, 1)
    assert scores["macro_text_f1", "{}"][1] == 2


def test_wrong_facts_count_only_where_the_passage_is_annotated_and_the_property_scored():
    gold = [document("d", passage("p", [fact()], annotated=("4", "5")), passage("q", [], annotated=("1",)))]
    wrong = [fact("4", (12, 13), (14, 15)), fact("5", (12, 13), (14, 15)), fact("1", (12, 13), (14, 15))]
    scores = score(gold, answer("d", "p", fact(), *wrong), answer("d", "q", *wrong))
    assert scores["text_precision", "{}"] == (0.5, 1)  # only property 4 on passage p


def test_a_gold_fact_of_an_unannotated_property_counts():
    gold = [document("d", passage("p", [fact("9"), fact()], annotated=("4",)), passage("q", [], annotated=("9",)))]
    assert score(gold, answer("d", "p", fact("9")))["text_recall", '{"property": "EDUCATED_AT"}'] == (1.0, 1)


def test_a_property_without_a_name_is_shown_by_its_id():
    gold = [document("d", passage("p", [fact("9")], annotated=("4",)))]
    assert score(gold, answer("d", "p"))["text_recall", '{"property": "9"}'] == (0.0, 1)


def test_one_fold_is_evaluated_and_ids_of_other_folds_are_accepted():
    gold = [document("a", passage("p", [fact()]), fold=1), document("b", passage("p", [fact("1")]), fold=2)]
    predictions = [answer("a", "p", fact()), answer("b", "p", fact("4"))]
    assert score(gold, *predictions, fold=1)["text_f1", "{}"] == (1.0, 1)
    assert score(gold, *predictions, fold=1).keys() == score(gold, predictions[0], fold=1).keys()
    assert score(gold, *predictions)["text_recall", "{}"] == (0.5, 2)
    report = run_score(TASK, gold, predictions[:1], fold=1)
    assert (report["result"]["n_units"], report["result"]["n_groups"]) == (1, 1)


def test_macro_is_the_mean_over_properties():
    gold = [document("d", passage("p", [fact(), fact("1"), fact("1", (10, 11))]))]
    scores = score(gold, answer("d", "p", fact()))
    assert scores["macro_text_f1", "{}"] == (0.5, 2)
    assert scores["text_f1", "{}"] == (0.5, 3)


def test_macro_and_span_ratio_exist_for_declared_slices_but_not_for_properties():
    gold = [
        document("a", passage("p", [fact()]), slices={"kind": "web"}),
        document("b", passage("p", [fact("1")]), slices={"kind": "news"}),
    ]
    scores = score(gold, answer("a", "p", fact()), cross="kind,property")
    assert scores["macro_text_f1", '{"kind": "web"}'] == (1.0, 1)
    assert scores["span_ratio", '{"kind": "news"}'] == (None, 1)
    assert ("macro_text_f1", '{"property": "CEO"}') not in scores
    assert ("span_ratio", '{"property": "CEO"}') not in scores
    assert ("macro_text_f1", '{"kind": "web", "property": "CEO"}') not in scores
    assert scores["text_f1", '{"kind": "web", "property": "CEO"}'] == (1.0, 1)


def test_a_slice_that_splits_a_group_has_no_macro_average():
    gold = [
        document("a", passage("p", [fact()]), slices={"kind": "web"}, group="g"),
        document("b", passage("p", [fact()]), slices={"kind": "news"}, group="g"),
    ]
    scores = score(gold, answer("a", "p", fact()))
    assert ("macro_text_f1", '{"kind": "web"}') not in scores
    assert scores["text_f1", '{"kind": "web"}'] == (1.0, 1)


def test_a_slice_without_gold_facts_has_no_value():
    gold = [document("a", passage("p", [fact()])), document("b", passage("p", []), slices={"kind": 0.5})]
    scores = score(gold, answer("b", "p", fact()))
    assert scores["text_f1", '{"kind": 0.5}'] == (None, 0)
    assert scores["span_ratio", '{"kind": 0.5}'] == (None, 0)


def test_slices_do_not_depend_on_the_submission():
    gold = [document("a", passage("p", [fact()]), slices={"k": 1}), document("b", passage("q", []), slices={"k": 2})]
    assert score(gold, answer("a", "p")).keys() == score(gold, answer("b", "q", fact("5"), fact("1"))).keys()


def test_span_ratio():
    gold = [document("d", passage("p", [fact(subject=(0, 4), target=(5, 9))]))]
    assert score(gold, answer("d", "p"))["span_ratio", "{}"] == (None, 1)
    assert score(gold, answer("d", "p", fact(subject=(0, 20), target=(0, 20))))["span_ratio", "{}"] == (5.0, 1)
    # Duplicates and facts of unscored properties count as predictions.
    ignored = fact("1", (0, 2), (0, 2))
    assert score(gold, answer("d", "p", ignored, ignored, fact(subject=(0, 20))))["span_ratio", "{}"][0] == 0.5


def test_long_spans_give_a_warning():
    gold = [document("d", passage("p", [fact(subject=(0, 4), target=(5, 9))]))]
    long, longer = fact(subject=(0, 12), target=(0, 12)), fact(subject=(0, 13), target=(0, 13))
    assert run_score(TASK, gold, [answer("d", "p", long)])["result"]["warnings"] == []
    (warning,) = run_score(TASK, gold, [answer("d", "p", longer)])["result"]["warnings"]
    assert "span_ratio is over 3" in warning


def test_invalid_offsets_give_a_warning():
    odd = [fact(target=(9, 5)), fact(target=(5, 21)), fact(target=(-1, 5))]
    report = run_score(TASK, ONE, [answer("d", "p", *odd, fact(target=(0, 20)))])
    assert "3 facts have offsets that are inverted" in report["result"]["warnings"][0]


def test_a_missing_passage_counts_as_empty_with_a_warning():
    gold = [document("a", passage("p", [fact()]), passage("q", [])), document("b", passage("r", [fact()]))]
    report = run_score(TASK, gold, [answer("a", "p", fact())])
    assert table(report)["text_recall", "{}"] == (0.5, 2)
    assert report["result"]["warnings"] == ['predictions.jsonl: 2 passages are missing and count as empty: "q", "r"']


def test_layouts_may_be_mixed_and_give_equal_scores():
    gold = [document("a", passage("p", [fact()]), passage("q", [fact()])), document("b", passage("r", [fact()]))]
    filled = copy.deepcopy(gold[0])
    compact = [answer("a", "p", fact()), answer("a", "q", fact()), answer("b", "r")]
    mixed = [filled, answer("b", "r")]
    part_by_part = [{"documentId": "a", "passages": [{"passageId": "p", "facts": [fact()]}]}, answer("a", "q", fact())]
    assert score(gold, *compact) == score(gold, *mixed) == score(gold, *part_by_part)
    assert run_score(TASK, gold, mixed)["result"]["warnings"] == []


def test_extra_keys_of_published_facts_are_ignored_without_a_warning():
    rich = fact() | {"factId": "x", "humanReadable": "y", "subjectText": "a", "objectText": None, "is_current": True}
    rich |= {"start_time": None, "end_time": 2001}
    assert run_score(TASK, ONE, [answer("d", "p", rich)])["result"]["warnings"] == []


def test_extra_keys_of_published_gold_are_accepted():
    rich = fact() | {"factId": "x", "humanReadable": "y", "subjectText": "a", "objectText": None, "end_time": {"y": 1}}
    gold = [document("d", passage("p", [rich]), source="web")]
    gold[0]["passages"][0]["exhaustivelyAnnotatedProperties"][0]["propertyDescription"] = ""
    report = run_score(TASK, gold, [answer("d", "p", fact())])
    assert table(report)["text_f1", "{}"] == (1.0, 1)
    assert report["gold_warnings"] == []
    line = json.dumps(gold[0]).encode()
    for pair in (b'"factId": "x"', b'"propertyDescription": ""', b'"source": "web"', b'"facts": []'):
        report = run_score(TASK, line.replace(pair.split(b": ")[0], pair + b", " + pair.split(b": ")[0], 1), [])
        assert "duplicate key" in texts(report)[0]
    assert (
        "too"
        in run_score(TASK, line.replace(b'"factId"', b'"too": 1, "factId"'), [answer("d", "p")])["gold_warnings"][0]
    )


FACT = fact()
REFUSED = {
    "unknown document": ([answer("x", "p")], 'unknown documentId, found "x"'),
    "a document of another type": ([answer(1, "p")], "found 1 (an integer), expected a string"),
    "unknown passage": ([answer("d", "x")], 'unknown passageId, found "x"'),
    "integer passage": ([answer("d", 1)], "passageId has the wrong type"),
    "a passage twice": ([answer("d", "p"), answer("d", "p")], "duplicate passageId"),
    "a document twice": ([{"documentId": "d", "passages": []}] * 2, "duplicate documentId"),
    "a passage in both layouts": (
        [answer("d", "p"), {"documentId": "d", "passages": [{"passageId": "p", "facts": []}]}],
        "duplicate passageId",
    ),
    "both layouts on a line": ([answer("d", "p") | {"passages": []}], "two layouts on a line"),
    "neither layout": ([{"documentId": "d"}], "passageId is missing"),
    "no facts": ([{"documentId": "d", "passageId": "p"}], "facts is missing"),
    "facts null": ([{"documentId": "d", "passageId": "p", "facts": None}], "facts has the wrong type"),
    "no documentId": ([{"passageId": "p", "facts": []}], "documentId is missing"),
    "unknown property": ([answer("d", "p", fact() | {"propertyId": "99"})], 'unknown propertyId, found "99"'),
    "integer property": ([answer("d", "p", FACT | {"propertyId": 4})], "facts[0].propertyId has the wrong type"),
    "null offset": (
        [answer("d", "p", FACT | {"objectEnd": None})],
        "facts[0].objectEnd has the wrong type, found null",
    ),
    "offset as text": ([answer("d", "p", FACT | {"objectEnd": "9"})], "objectEnd has the wrong type, found a string"),
    "bool offset": (
        [answer("d", "p", FACT | {"objectEnd": True})],
        "objectEnd has the wrong type, found true or false",
    ),
    "float offset": ([answer("d", "p", FACT | {"objectEnd": 9.0})], "objectEnd has the wrong type"),
    "null URI": ([answer("d", "p", FACT | {"objectUri": None})], "objectUri has the wrong type, found null"),
    "no URI": (
        [answer("d", "p", {k: v for k, v in FACT.items() if k != "objectUri"})],
        "objectUri is missing in facts[0]",
    ),
}


@pytest.mark.parametrize(("predictions", "what"), REFUSED.values(), ids=REFUSED)
def test_invalid_predictions_are_refused(predictions, what):
    report = run_score(TASK, ONE, predictions)
    assert report["fault"] == "predictions"
    (text,) = texts(report)
    assert what in text
    assert text.startswith(f"predictions.jsonl:{len(predictions)}: ")


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "unknown property"])
def test_validation_without_gold_refuses_the_same_predictions(name):
    predictions, what = REFUSED[name]
    prepared, inputs = run_prepare(TASK, ONE)
    assert what in texts(run_validate(TASK, inputs, predictions, expects=prepared["expects"]))[0]


def test_validation_checks_properties_where_they_are_given():
    prepared, inputs = run_prepare(TASK, ONE)
    predictions = [answer("d", "p", fact("9"))]
    assert prepared["expects"] == {"properties": ["1", "4", "5"]}
    assert "unknown propertyId" in texts(run_validate(TASK, inputs, predictions, expects=prepared["expects"]))[0]
    assert run_validate(TASK, inputs, predictions)["ok"]


BAD_GOLD = {
    "a document twice": (ONE * 2, "duplicate documentId"),
    "ids of two types": ([*ONE, document(1)], "another type"),
    "a passage twice": ([document("d", passage("p", []), passage("p", []))], "duplicate passageId"),
    "fold 6": ([document("d", fold=6)], "unknown fold"),
    "fold as text": ([document("d", fold="1")], "fold has the wrong type"),
    "no facts": (
        [{**ONE[0], "passages": [{k: v for k, v in ONE[0]["passages"][0].items() if k != "facts"}]}],
        "facts is missing",
    ),
    "no annotated properties": (
        [{**ONE[0], "passages": [{k: v for k, v in ONE[0]["passages"][0].items() if k[0] != "e"}]}],
        "exhaustivelyAnnotatedProperties is missing",
    ),
    "a fact without its property": (
        [document("d", passage("p", [{k: v for k, v in FACT.items() if k != "propertyId"}]))],
        "propertyId is missing",
    ),
    "null in slices": ([document("d", slices={"kind": None})], "slices"),
    "a list in slices": ([document("d", slices={"kind": [1]})], "slices"),
    "group true": ([document("d", group=True)], "group has the wrong type"),
    "the task's own dimension": ([document("d", slices={"property": "x"})], "property"),
    "one id, two names": (
        [
            document(
                "d",
                passage("p", [])
                | {
                    "exhaustivelyAnnotatedProperties": [
                        {"propertyId": "4", "propertyName": "CEO"},
                        {"propertyId": "4", "propertyName": "BOSS"},
                    ]
                },
            )
        ],
        "two names",
    ),
    "one name, two ids": (
        [
            document(
                "d",
                passage("p", [])
                | {
                    "exhaustivelyAnnotatedProperties": [
                        {"propertyId": "4", "propertyName": "CEO"},
                        {"propertyId": "6", "propertyName": "CEO"},
                    ]
                },
            )
        ],
        "one name",
    ),
}


@pytest.mark.parametrize(("gold", "what"), BAD_GOLD.values(), ids=BAD_GOLD)
def test_bad_gold(gold, what):
    report = run_score(TASK, gold, [answer("d", "p")])
    assert report["fault"] == "gold"
    assert what in texts(report)[0]


def test_a_fold_that_gold_does_not_have_is_wrong_usage():
    assert run_score(TASK, ONE, [answer("d", "p")], fold=5)["fault"] == "usage"
    without = [{key: value for key, value in ONE[0].items() if key != "fold"}]
    assert run_score(TASK, without, [answer("d", "p")])["ok"]
    assert run_score(TASK, without, [answer("d", "p")], fold=1)["fault"] == "gold"


def test_inputs_reveal_no_gold():
    gold = [
        document(
            "d",
            passage("p", [fact(uris=("SECRET", "SECRET"))]),
            group="SECRET",
            slices={"SECRET": "SECRET"},
            source="SECRET",
        )
    ]
    _, inputs = run_prepare(TASK, gold)
    assert json.loads(inputs) == {
        "fold": 1,
        "documentId": "d",
        "documentText": "x" * 20,
        "passages": [{"passageId": "p", "passageStart": 0, "passageEnd": 20, "passageText": "x" * 20}],
    }


def test_integer_document_ids():
    gold = [document(1, passage("p", [fact()]))]
    assert score(gold, answer(1, "p", fact()))["text_f1", "{}"] == (1.0, 1)
    assert "expected an integer" in texts(run_score(TASK, gold, [answer("1", "p")]))[0]


def test_two_way_slices_do_not_depend_on_the_submission():
    gold = [
        document("a", passage("p", [fact()]), slices={"k": 1}),
        document("b", passage("q", [fact("1")]), slices={"k": 2}),
    ]
    silent = score(gold, answer("a", "p"), cross="k,property")
    wrong = score(gold, answer("a", "p", fact("1"), fact("5")), cross="k,property")
    assert wrong.keys() == silent.keys()
    assert ("text_f1", '{"k": 1, "property": "SUBSIDIARY_OF"}') not in wrong
    assert ("text_f1", '{"k": 1, "property": "CEO"}') in wrong
