"""The scorer of fact-verification equals plain loops, on generated examples."""

import json
from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evaluator.tasks.fact_verification import fv_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_score, table

TASK = "fact-verification"

label = st.sampled_from(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO", "supports", "Refutes", "not enough info"])
page = st.sampled_from(["A", "B", "a"])
sentence = st.tuples(page, st.integers(0, 2)).map(list)
gold_sentence = st.one_of(
    sentence.map(lambda pair: [1, 2, *pair]), st.just([7, None, None, None]), st.just(["x", 3, "A", None])
)
evidence_sets = st.lists(st.lists(gold_sentence, max_size=2), max_size=3)
value = st.sampled_from(["x", "y", 1, 1.0, True, 0.25, "1"])


@st.composite
def cases(draw):
    make_id = draw(st.sampled_from([int, str]))
    with_evidence = draw(st.sampled_from(["none", "some", "all"]))
    with_origin = draw(st.booleans())
    gold, predictions = [], []
    for i in range(draw(st.integers(1, 9))):
        line = {"id": make_id(i), "claim": draw(st.sampled_from(["c", "d"])), "label": draw(label)}
        answer = {"id": make_id(i), "predicted_label": draw(label)}
        has_evidence = with_evidence == "all" or (with_evidence == "some" and draw(st.booleans()))
        if has_evidence:
            line["evidence"] = draw(evidence_sets)
        if has_evidence or draw(st.booleans()):
            answer["predicted_evidence"] = draw(st.lists(sentence, max_size=7))
        if draw(st.booleans()):
            line["group"] = draw(st.sampled_from(["g", "h", 3, "3"]))
        slices = draw(st.dictionaries(st.sampled_from(["kind", "label", "source"]), value, max_size=2))
        if with_origin and draw(st.integers(0, 5)):
            slices["origin"] = draw(st.sampled_from(["original", "generated"]))
        if slices or draw(st.booleans()):
            line["slices"] = slices
        gold.append(line)
        predictions.append(answer)
    if draw(st.booleans()):
        # One value per group: a declared dimension that splits no group.
        kinds = defaultdict(lambda: draw(value))
        for line in gold:
            group = line.get("group", line["id"])
            line.setdefault("slices", {})["uncut"] = kinds[type(group), group]
    return gold, draw(st.permutations(predictions))


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.sampled_from([None, 1, 2, 5]))
def test_all_scores(case, max_evidence):
    gold, predictions = case
    option = "none" if max_evidence is None else max_evidence
    report = run_score(TASK, gold, predictions, max_evidence=option)
    assert_same(table(report), fv_oracle.score(gold, predictions, max_evidence))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_two_way_slices_are_slices_of_slices(case):
    gold, predictions = case
    for line in gold:
        line.setdefault("slices", {})["extra"] = "even" if len(line["claim"] + str(line["id"])) % 2 else "odd"
    crossed = table(run_score(TASK, gold, predictions, cross="extra,label"))
    for extra in ("even", "odd"):
        lines = [line for line in gold if line["slices"]["extra"] == extra]
        if not lines:
            continue
        ids = {line["id"] for line in lines}
        alone = table(run_score(TASK, lines, [line for line in predictions if line["id"] in ids]))
        for (measure, where), scored in alone.items():
            slice_key = json.loads(where)
            if set(slice_key) == {"label"} and (measure, json.dumps({"extra": extra, **slice_key})) in crossed:
                assert crossed[measure, json.dumps({"extra": extra, **slice_key})] == scored
