"""The vectorised scorer of knowledge-base-population equals plain loops, on generated examples."""

from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.tasks.knowledge_base_population import matching
from tests.evaluator.tasks.knowledge_base_population import kbp_oracle
from tests.support.full_run import examples
from tests.support.scoring_runs import assert_same, run_score, table

TASK = "knowledge-base-population"
NAMES = {"1": "SUBSIDIARY_OF", "4": "CEO", "5": "DATE_FOUNDED", "25": "SPOUSE"}
HUGE = 10**30

offset = st.one_of(st.integers(0, 12), st.sampled_from([-3, HUGE, -HUGE, 2**63, 2**62, HUGE + 1]))
small = st.integers(0, 12)
uri = st.sampled_from(["", "/", "Q1", "q1", "a/Q1", "b/Q1/", "a/Q2", "a/Q2//", "a//", "https://x/Q2"])


def facts_of(offsets):
    return st.lists(
        st.fixed_dictionaries(
            {
                "propertyId": st.sampled_from(list(NAMES)),
                "subjectStart": offsets,
                "subjectEnd": offsets,
                "objectStart": offsets,
                "objectEnd": offsets,
                "subjectUri": uri,
                "objectUri": uri,
            }
        ),
        max_size=7,
    )


slice_value = st.sampled_from(["web", "news", 1, 1.0, "1", True, False, 0.5, "true"])


@st.composite
def cases(draw):
    ids = draw(st.sampled_from([["d1", "d2", "d3", "d4"], [1, 2, 3, 4]]))
    offsets = draw(st.sampled_from([small, offset]))
    gold, predictions = [], []
    for document_id in ids:
        document = {
            "fold": draw(st.integers(1, 2)),
            "documentId": document_id,
            "documentText": "x" * 12,
            "passages": [],
        }
        if draw(st.booleans()):
            document["slices"] = draw(st.dictionaries(st.sampled_from(["kind", "source"]), slice_value))
        if draw(st.booleans()):
            document["group"] = draw(st.sampled_from(["g", "h", 7]))
        answered = []
        for i in range(draw(st.integers(0, 3))):
            passage_id = f"p{i}"
            # Some passages are not annotated with all properties; some facts have unannotated properties.
            annotated = draw(st.lists(st.sampled_from(list(NAMES)), unique=True))
            document["passages"].append(
                {
                    "passageId": passage_id,
                    "passageStart": 0,
                    "passageEnd": 12,
                    "passageText": "x" * 12,
                    "exhaustivelyAnnotatedProperties": [
                        {"propertyId": prop, "propertyName": NAMES[prop]} for prop in annotated
                    ],
                    "facts": draw(facts_of(offsets)),
                }
            )
            if draw(st.integers(0, 4)):
                answered.append({"passageId": passage_id, "facts": draw(facts_of(offsets))})
        gold.append(document)
        whole = draw(st.booleans())
        if whole:
            predictions.append({"documentId": document_id, "passages": answered})
        else:
            predictions += [{"documentId": document_id, **passage} for passage in answered]
    # Every property is annotated in some passage, so no prediction names an unknown property.
    gold.append(
        {
            "fold": 1,
            "documentId": "last" if isinstance(ids[0], str) else 99,
            "documentText": "",
            "passages": [
                {
                    "passageId": "p",
                    "passageStart": 0,
                    "passageEnd": 0,
                    "passageText": "",
                    "exhaustivelyAnnotatedProperties": [
                        {"propertyId": prop, "propertyName": name} for prop, name in NAMES.items()
                    ],
                    "facts": [],
                }
            ],
        }
    )
    if not predictions:
        predictions.append({"documentId": gold[-1]["documentId"], "passageId": "p", "facts": []})
    return gold, draw(st.permutations(predictions))


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(cases(), st.sampled_from([None, 1]))
def test_all_scores(case, fold):
    gold, predictions = case
    report = run_score(TASK, gold, predictions, **({} if fold is None else {"fold": fold}))
    assert_same(table(report), kbp_oracle.score(gold, predictions, fold))


@settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(cases())
def test_many_facts_of_one_property_are_compared_in_the_same_way(case):
    gold, predictions = case
    with patch.object(matching, "_MANY", 0), patch.object(matching, "_ROWS", 2):
        assert_same(table(run_score(TASK, gold, predictions)), kbp_oracle.score(gold, predictions, None))


@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(cases(), st.randoms())
def test_the_order_of_lines_does_not_matter(case, random):
    gold, predictions = case
    before = table(run_score(TASK, gold, predictions))
    random.shuffle(gold)
    random.shuffle(predictions)
    assert_same(table(run_score(TASK, gold, predictions)), before)
