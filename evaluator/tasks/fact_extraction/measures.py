"""Measures of fact-extraction: precision, recall and F1, and precision among the facts that gold can judge."""

from evaluator.measures.base import Ratio, statistic

_MICRO = "summed over texts (micro)"
_SOURCE = "Goodrich et al. 2019"
_UNVERIFIABLE = "gold can verify none of the predicted facts"

gold, predicted, found = statistic("gold"), statistic("predicted"), statistic("found")
verifiable, accuracy = statistic("verifiable"), statistic("text_accuracy")

PRECISION = Ratio(
    name="precision",
    title="Precision",
    units=gold,
    numerator=found,
    denominator=predicted,
    empty=0.0,
    source=_SOURCE,
    doc=f"Share of predicted facts that are in the gold, {_MICRO}; facts are sets, compared exactly.",
)
RECALL = Ratio(
    name="recall",
    title="Recall",
    units=gold,
    numerator=found,
    denominator=gold,
    empty=0.0,
    source=_SOURCE,
    doc=f"Share of gold facts that were predicted, {_MICRO}.",
)
F1 = Ratio(
    name="f1",
    variance="f1",
    title="F1",
    units=gold,
    numerator=2.0 * found,
    denominator=predicted + gold,
    empty=0.0,
    source=_SOURCE,
    doc=f"Harmonic mean of precision and recall, {_MICRO}.",
)
FACT_ACC = Ratio(
    name="fact_acc",
    title="Factual accuracy",
    units=gold,
    numerator=found,
    denominator=verifiable,
    none_where=_UNVERIFIABLE,
    source=f"{_SOURCE}, fact_acc",
    doc=f"Of the predicted facts whose subject and relation gold has together in the same text, the share that is "
    f"correct, {_MICRO}; no value where gold can verify none.",
)
FACT_ACC_MACRO = Ratio(
    name="fact_acc_macro",
    title="Factual accuracy, mean of texts",
    units=gold,
    numerator=accuracy,
    denominator=statistic("verifiable_text"),
    none_where=_UNVERIFIABLE,
    per_group=True,
    source=f"{_SOURCE}, fact_acc",
    doc="Mean of each text's factual accuracy, over the texts in which gold can verify some predicted fact.",
)
FACT_ACC_MACRO_ZERO = Ratio(
    name="fact_acc_macro_zero",
    title="Factual accuracy, mean of all texts",
    units=verifiable,
    reported_units=gold,
    numerator=accuracy,
    denominator=statistic("text"),
    none_where=_UNVERIFIABLE,
    per_group=True,
    source=f"{_SOURCE}, fact_acc",
    doc="Mean of each text's factual accuracy over all texts, 0 for a text in which gold can verify no predicted fact; "
    "no value if gold can verify none in any text.",
)
MEASURES = (PRECISION, RECALL, F1, FACT_ACC, FACT_ACC_MACRO, FACT_ACC_MACRO_ZERO)
