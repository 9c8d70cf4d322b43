"""The scorer of fact-extraction equals plain loops, on generated examples."""

from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evaluator.tasks.fact_extraction import fe_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_prepare, run_score, run_validate, table

TASK = "fact-extraction"
fact = st.tuples(
    st.sampled_from(["a", "b", "A", ""]),
    st.sampled_from(["r", "s", "t", "only predicted"]),
    st.sampled_from(["x", "y", "\u00e9", "e\u0301", ' ":']),
).map(list)
gold_fact = fact.filter(lambda triple: triple[1] != "only predicted")
value = st.sampled_from(["x", "y", 1, 1.0, True, "1"])


@st.composite
def cases(draw):
    make_id = draw(st.sampled_from([int, str]))
    gold, predictions = [], []
    for i in range(draw(st.integers(1, 8))):
        line = {"id": make_id(i), "facts": draw(st.lists(gold_fact, max_size=5))}
        for key in ("text", "subject"):
            if draw(st.booleans()):
                line[key] = draw(st.sampled_from(["", "x"]))
        if draw(st.booleans()):
            line["group"] = draw(st.sampled_from(["g", "h", 3, "3"]))
        if draw(st.booleans()):
            line["slices"] = draw(st.dictionaries(st.sampled_from(["kind", "source"]), value, max_size=2))
        gold.append(line)
        if draw(st.integers(0, 5)):
            correct = draw(st.lists(st.sampled_from(line["facts"] or [["a", "r", "x"]]), max_size=4))
            predictions.append({"id": make_id(i), "facts": correct + draw(st.lists(fact, max_size=4))})
    if not predictions:
        predictions.append({"id": make_id(0), "facts": []})
    if draw(st.booleans()):
        # One value per group: a declared dimension that splits no group.
        kinds = defaultdict(lambda: draw(value))
        for line in gold:
            group = line.get("group", line["id"])
            line.setdefault("slices", {})["uncut"] = kinds[type(group), group]
    return gold, draw(st.permutations(predictions))


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_all_scores(case):
    gold, predictions = case
    report = run_score(TASK, gold, predictions)
    assert_same(table(report), fe_oracle.score(gold, predictions))
    missing = len(gold) - len(predictions)
    assert (missing > 0) == any("missing" in warning for warning in report["result"]["warnings"])


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_validation_and_scoring_accept_the_same_files(case):
    gold, predictions = case
    prepared, inputs = run_prepare(TASK, gold)
    report = run_validate(TASK, inputs, predictions, expects=prepared["expects"])
    assert report["ok"]
    scored = run_score(TASK, gold, predictions)
    assert report["warnings"] == [*scored["result"]["warnings"], *scored["hints"]]
