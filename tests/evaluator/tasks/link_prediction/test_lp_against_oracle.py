"""The scorer of link-prediction equals plain loops, on generated examples."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evaluator.tasks.link_prediction import lp_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_prepare, run_score, run_validate, table

TASK = "link-prediction"
# Few mentions, so that some are equal; and pairs that are equal only after normalising Unicode, case or white space.
mention = st.sampled_from(["a", "b", "c", "d", "A", " a", "", "\u00e9", "e\u0301", 'say ":', "?"])
junk = st.integers(0, 70).map("junk {}".format)
value = st.sampled_from(["x", "y", 1, 1.0, True, "1"])


@st.composite
def cases(draw):
    make_id = draw(st.sampled_from([int, str]))
    gold, predictions = [], []
    for i in range(draw(st.integers(1, 8))):
        known = draw(st.sampled_from(["s", "", "??", " ?"]))
        question = [known, "r", "?"] if draw(st.booleans()) else ["?", "?", known]
        line = {"id": make_id(i), "question": question}
        line["answers"] = draw(st.lists(mention, max_size=3))
        line["filtered"] = draw(st.lists(st.one_of(mention, junk), max_size=6))
        if draw(st.booleans()):
            line["group"] = draw(st.sampled_from(["g", "h", 3, "3"]))
        if draw(st.booleans()):
            line["slices"] = draw(st.dictionaries(st.sampled_from(["kind", "side", "source"]), value, max_size=2))
        gold.append(line)
        if draw(st.integers(0, 5)):
            before = [f"junk {n}" for n in range(draw(st.sampled_from([0, 0, 1, 2, 3, 9, 10, 49, 50])))]
            ranking = before + draw(st.lists(st.one_of(mention, junk), max_size=12))
            predictions.append({"id": make_id(i), "ranking": ranking})
    if not predictions:
        predictions.append({"id": make_id(0), "ranking": []})
    return gold, draw(st.permutations(predictions))


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.sampled_from(["filtered", "raw"]))
def test_all_scores(case, setting):
    gold, predictions = case
    report = run_score(TASK, gold, predictions, setting=setting)
    assert_same(table(report), lp_oracle.score(gold, predictions, setting))
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
