"""fact-verification: one test for each sentence of the protocol."""

import json

import pytest

from tests.support.scoring_runs import cut, run_prepare, run_score, run_validate, table, texts

TASK = "fact-verification"


def claim(name, label="SUPPORTS", *sets, **extra):
    line = {"id": name, "claim": f"claim {name}", "label": label, **extra}
    if sets:
        line["evidence"] = [[[1, 2, page, row] for page, row in evidence_set] for evidence_set in sets]
    return line


def answer(name, label="SUPPORTS", *evidence):
    return {"id": name, "predicted_label": label, "predicted_evidence": [list(pair) for pair in evidence]}


def score(gold, *answers, **options):
    return table(run_score(TASK, gold, list(answers), **options))


def whole(scores, measure):
    return scores[measure, "{}"][0]


A, B, C, JUNK = ("A", 0), ("B", 1), ("C", 2), ("Junk", 9)


def test_labels_ignore_case_on_both_sides():
    gold = [claim(1, "supports"), claim(2, "SUPPORTS"), claim(3, "Not Enough Info")]
    scores = score(gold, answer(1, "Supports"), answer(2, "refutes"), answer(3, "NOT ENOUGH INFO"))
    assert scores["accuracy", '{"label": "SUPPORTS"}'] == (0.5, 2)
    assert scores["accuracy", '{"label": "NOT ENOUGH INFO"}'] == (1.0, 1)
    assert scores["accuracy", "{}"] == (cut(2 / 3), 3)


def test_a_label_that_gold_lacks_is_wrong():
    assert (
        whole(score([claim(1), claim(2, "REFUTES")], answer(1, "NOT ENOUGH INFO"), answer(2, "REFUTES")), "accuracy")
        == 0.5
    )


@pytest.mark.parametrize(
    ("sets", "predicted", "strict", "precision", "recall"),
    [
        ([[A]], [A], 1, 1.0, 1),
        ([[A, B]], [A], 0, 1.0, 0),
        ([[A, B], [C]], [C], 1, 1.0, 1),
        ([[A, B], [C]], [A, C, JUNK, JUNK], 1, 0.5, 1),
        ([[A]], [], 0, 1.0, 0),
        ([[A]], [JUNK] * 5 + [A], 0, 0.0, 0),
        ([[A]], [JUNK] * 4 + [A], 1, 0.2, 1),
        ([[A]], [A, A, JUNK], 1, 2 / 3, 1),
        ([[("a", 0)]], [A], 0, 0.0, 0),
        ([[A, A]], [A], 1, 1.0, 1),
        ([[]], [JUNK], 1, 0.0, 1),
        ([[]], [], 1, 1.0, 1),
        ([[A], []], [], 1, 1.0, 1),
    ],
    ids=str,
)
def test_evidence(sets, predicted, strict, precision, recall):
    scores = score([claim(1, "SUPPORTS", *sets)], answer(1, "SUPPORTS", *predicted))
    assert whole(scores, "fever_score") == strict
    assert whole(scores, "evidence_precision") == pytest.approx(precision, abs=1e-12)
    assert whole(scores, "evidence_recall") == recall


def test_an_empty_evidence_list_is_never_met_but_counts_as_recalled():
    scores = score([claim(1, evidence=[]), claim(2, "SUPPORTS", [A])], answer(1), answer(2, "SUPPORTS", A))
    assert whole(scores, "fever_score") == 0.5
    assert whole(scores, "evidence_recall") == 1.0
    assert whole(scores, "evidence_precision") == 1.0


def test_a_gold_line_without_evidence_among_lines_with_evidence():
    gold = [claim(1), claim(2, "SUPPORTS", [A])]
    scores = score(gold, {"id": 1, "predicted_label": "SUPPORTS"}, answer(2, "SUPPORTS", A))
    assert whole(scores, "fever_score") == 0.5
    assert whole(scores, "evidence_recall") == 1.0


def test_the_right_label_is_needed_for_fever_score_only():
    scores = score([claim(1, "SUPPORTS", [A])], answer(1, "REFUTES", A))
    assert whole(scores, "fever_score") == 0.0
    assert whole(scores, "evidence_f1") == 1.0


def test_not_enough_info_needs_no_evidence_and_is_not_verifiable():
    gold = [claim(1, "NOT ENOUGH INFO", [(None, None)])]
    scores = score(gold, answer(1, "NOT ENOUGH INFO", JUNK))
    assert whole(scores, "fever_score") == 1.0
    assert scores["evidence_precision", "{}"] == (1.0, 1)
    assert scores["evidence_recall", "{}"] == (0.0, 1)
    assert scores["evidence_f1", "{}"] == (0.0, 1)


def test_precision_and_recall_of_zero_give_an_f1_of_zero():
    assert whole(score([claim(1, "SUPPORTS", [A])], answer(1, "SUPPORTS", JUNK)), "evidence_f1") == 0.0


@pytest.mark.parametrize(("option", "met"), [("1", 0), ("2", 1), ("5", 1), ("none", 1), ("999999999", 1)])
def test_max_evidence(option, met):
    scores = score([claim(1, "SUPPORTS", [B])], answer(1, "SUPPORTS", A, B), max_evidence=option)
    assert whole(scores, "fever_score") == met
    assert whole(scores, "evidence_precision") == met / 2


@pytest.mark.parametrize("option", ["0", "-1", "", "None", "5.0", "1_0", "\uff15", " 5", "+5", "05", "1" * 99])
def test_max_evidence_takes_whole_numbers_or_none(option):
    report = run_score(TASK, [claim(1)], [answer(1)], max_evidence=option)
    assert report["fault"] == "usage"


def test_evidence_measures_exist_where_gold_has_evidence():
    names = {measure for measure, _ in score([claim(1)], answer(1))}
    assert names == {"accuracy"}
    names = {measure for measure, _ in score([claim(1), claim(2, evidence=[])], answer(1), answer(2))}
    assert names == {"accuracy", "fever_score", "evidence_precision", "evidence_recall", "evidence_f1"}


def test_primary_is_fever_score_where_gold_has_evidence():
    assert run_score(TASK, [claim(1)], [answer(1)])["primary"] == "accuracy"
    assert run_score(TASK, [claim(1, "SUPPORTS", [A])], [answer(1)])["primary"] == "fever_score"
    assert run_prepare(TASK, [claim(1, "SUPPORTS", [A])])[0]["primary"] == "fever_score"


def test_a_line_with_gold_evidence_needs_predicted_evidence():
    gold = [claim(1), claim(2, "SUPPORTS", [A])]
    bare = [{"id": 1, "predicted_label": "SUPPORTS"}, {"id": 2, "predicted_label": "SUPPORTS"}]
    (text,) = texts(run_score(TASK, gold, bare))
    assert text.startswith("predictions.jsonl:2: predicted_evidence is missing")


@pytest.mark.parametrize(
    ("evidence", "what"),
    [
        (None, "predicted_evidence has the wrong type, found null"),
        ([["A"]], "predicted_evidence[0]"),
        ([["A", 0, 1]], "predicted_evidence[0] has the wrong length, found a list of another length"),
        ([["A", "0"]], "predicted_evidence[0][1] has the wrong type"),
        ([["A", True]], "predicted_evidence[0][1] has the wrong type"),
        ([["A", 0.0]], "predicted_evidence[0][1] has the wrong type"),
        ([["A", None]], "predicted_evidence[0][1] has the wrong type"),
        ([[None, 0]], "predicted_evidence[0][0] has the wrong type"),
        ([[1, 0]], "predicted_evidence[0][0] has the wrong type"),
        ([{"page": "A", "line": 0}], "predicted_evidence[0] has the wrong type"),
        ("A", "predicted_evidence has the wrong type"),
    ],
    ids=str,
)
def test_malformed_evidence_is_refused(evidence, what):
    line = {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": evidence}
    assert what in texts(run_score(TASK, [claim(1)], [line]))[0]


@pytest.mark.parametrize(
    ("gold", "what"),
    [
        ([claim(1), claim("2")], "another type"),
        ([claim(1), claim(1)], "duplicate id"),
        ([claim(1, "MAYBE")], "unknown label"),
        ([claim(1, evidence=[[[1, 2, "A"]]])], "evidence"),
        ([claim(1, evidence=[[[1, 2, "A", "0"]]])], "evidence"),
        ([claim(1, evidence=None)], "evidence"),
        ([claim(1, evidence_text=1)], "evidence_text"),
        ([claim(1, slices=[])], "slices"),
        ([{"id": 1, "label": "SUPPORTS"}], "claim is missing"),
    ],
    ids=str,
)
def test_bad_gold(gold, what):
    report = run_score(TASK, gold, [answer(1)])
    assert report["fault"] == "gold"
    assert what in texts(report)[0]
    assert "MAYBE" not in str(report)


# Symmetric sets

QUADRUPLE = [
    ("c", "e", "SUPPORTS", "original"),
    ("c", "f", "REFUTES", "generated"),
    ("d", "e", "REFUTES", "generated"),
    ("d", "f", "SUPPORTS", "generated"),
]


def symmetric(groups=2):
    return [
        {
            "id": f"{group}{member}",
            "claim": text,
            "evidence_text": evidence,
            "label": label,
            "group": f"g{group}",
            "slices": {"origin": origin, "half": "left" if group % 2 else "right"},
        }
        for group in range(groups)
        for member, (text, evidence, label, origin) in enumerate(QUADRUPLE)
    ]


def answers(gold, wrong=()):
    flipped = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    return [
        {"id": line["id"], "predicted_label": flipped[line["label"]] if line["id"] in wrong else line["label"]}
        for line in gold
    ]


def test_symmetric_measures():
    gold = symmetric()
    scores = score(gold, *answers(gold, wrong={"01"}))
    assert scores["accuracy", "{}"] == (7 / 8, 8)
    assert scores["group_accuracy", "{}"] == (0.5, 2)
    assert scores["claim_consistency", "{}"] == (0.75, 8)
    assert scores["symmetric_gap", "{}"] == (cut(1 - 5 / 6), 8)
    assert scores["accuracy", '{"origin": "generated"}'] == (cut(5 / 6), 6)


def test_a_claim_only_answer_is_consistent_nowhere():
    gold = symmetric()
    scores = score(gold, *({"id": line["id"], "predicted_label": "SUPPORTS"} for line in gold))
    assert whole(scores, "accuracy") == 0.5
    assert whole(scores, "claim_consistency") == whole(scores, "group_accuracy") == 0.0


def test_group_measures_exist_where_no_group_is_split():
    gold = symmetric()
    scores = score(gold, *answers(gold, wrong={"01"}), cross="half,origin")
    assert scores["group_accuracy", '{"half": "left"}'] == (1.0, 1)
    assert scores["group_accuracy", '{"half": "right"}'] == (0.0, 1)
    for measure in ("group_accuracy", "symmetric_gap", "claim_consistency"):
        assert (measure, '{"origin": "original"}') not in scores
        assert (measure, '{"label": "SUPPORTS"}') not in scores
        assert (measure, '{"half": "left", "origin": "original"}') not in scores


def test_group_measures_need_a_declared_origin():
    gold = symmetric()
    for line in gold:
        line["slices"].pop("origin")
    assert {measure for measure, _ in score(gold, *answers(gold))} == {"accuracy"}


def test_incomplete_groups_are_scored():
    gold = symmetric()[:-1]
    scores = score(gold, *answers(gold, wrong={"00"}))
    assert scores["group_accuracy", "{}"] == (0.5, 2)
    assert scores["claim_consistency", "{}"] == (0.75, 7)


def test_the_gap_needs_both_origins():
    gold = [line for line in symmetric() if line["slices"]["origin"] == "original"]
    assert score(gold, *answers(gold))["symmetric_gap", "{}"] == (None, 2)


def test_group_names_of_two_types_are_distinct():
    gold = [claim(1, group="1", slices={"origin": "original"}), claim(2, group=1, slices={"origin": "original"})]
    report = run_score(TASK, gold, [answer(1), answer(2, "REFUTES")])
    assert report["result"]["n_groups"] == 2
    assert table(report)["group_accuracy", "{}"] == (0.5, 2)


# Slices


def test_slice_values_are_distinguished_and_shown_as_json():
    values = [True, 1, 1.0, "1", "true", 0.2, 10, "b", "a"]
    gold = [claim(i, slices={"kind": value}) for i, value in enumerate(values)]
    report = run_score(TASK, gold, [answer(i) for i in range(len(values))])
    shown = [json.dumps(row["slice"]["kind"]) for row in report["result"]["scores"] if "kind" in row["slice"]]
    assert shown == ["true", "0.2", "1", "1.0", "10", '"1"', '"a"', '"b"', '"true"']
    assert all(row["n"] == 1 for row in report["result"]["scores"] if "kind" in row["slice"])


def test_a_declared_dimension_overrides_the_field():
    gold = [claim(1, slices={"label": "mine"}), claim(2)]
    scores = score(gold, answer(1), answer(2))
    assert scores["accuracy", '{"label": "mine"}'] == (1.0, 1)
    assert scores["accuracy", '{"label": "SUPPORTS"}'] == (1.0, 1)


def test_cross_adds_only_two_way_slices():
    gold = [claim(1, slices={"a": 1, "b": "x"}), claim(2, slices={"a": 2}), claim(3, slices={"a": 1, "b": "y"})]
    predictions = [answer(1), answer(2), answer(3, "REFUTES")]
    plain, crossed = score(gold, *predictions), score(gold, *predictions, cross="a,b")
    assert {key: crossed[key] for key in plain} == plain
    assert {key: value for key, value in crossed.items() if key not in plain} == {
        ("accuracy", '{"a": 1, "b": "x"}'): (1.0, 1),
        ("accuracy", '{"a": 1, "b": "y"}'): (0.0, 1),
    }


@pytest.mark.parametrize("cross", ["a", "a,a", "a,", ",", "a,b,c", "a,nowhere", "label, a"])
def test_cross_takes_two_known_dimensions(cross):
    gold = [claim(1, slices={"a": 1, "b": 2, "c": 3})]
    assert run_score(TASK, gold, [answer(1)], cross=cross)["fault"] == "usage"


# Inputs and validation


def test_inputs_reveal_no_gold():
    gold = [claim(f"id{i}", "REFUTES", [("SECRET", 7)], group="SECRET", slices={"SECRET": "SECRET"}) for i in range(30)]
    gold[0]["evidence_text"] = "given"
    prepared, inputs = run_prepare(TASK, gold)
    lines = [json.loads(line) for line in inputs.splitlines()]
    assert all(line.keys() <= {"id", "claim", "evidence_text"} for line in lines)
    assert b"SECRET" not in inputs and b"REFUTES" not in inputs
    assert {line["id"] for line in lines} == {line["id"] for line in gold}
    assert [line["id"] for line in lines] != [line["id"] for line in gold]
    # The order depends on the ids alone.
    assert run_prepare(TASK, gold[::-1])[1] == inputs
    assert prepared["n_units"] == 30 and prepared["n_groups"] == 1


@pytest.mark.parametrize("share", ["all", "some", "none"])
def test_validation_requires_evidence_where_every_gold_line_has_it(share):
    gold = [
        claim(1, "SUPPORTS", *([[A]] if share != "none" else [])),
        claim(2, "REFUTES", *([[A]] if share == "all" else [])),
    ]
    prepared, inputs = run_prepare(TASK, gold)
    assert prepared["expects"]["evidence"] == share
    bare = [{"id": i, "predicted_label": "SUPPORTS"} for i in (1, 2)]
    assert run_validate(TASK, inputs, bare, expects=prepared["expects"])["ok"] == (share != "all")


def test_bad_inputs_are_reported_by_file_and_line():
    report = run_validate(TASK, b"{}\n", [answer(1)])
    assert report["fault"] == "inputs"
    assert texts(report) == ["inputs.jsonl:1: id is missing, found no such key, expected id"]


def test_a_submission_cannot_bring_its_own_gold():
    gold = [claim(1, "REFUTES", [A])]
    line = answer(1, "SUPPORTS", JUNK) | {"label": "SUPPORTS", "evidence": [[[1, 1, *JUNK]]], "group": 1}
    report = run_score(TASK, gold, [line])
    assert whole(table(report), "accuracy") == whole(table(report), "evidence_f1") == 0.0
    assert len(report["result"]["warnings"]) == 3
