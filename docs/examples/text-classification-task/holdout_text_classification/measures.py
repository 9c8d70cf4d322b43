"""The measures, computed from sums of the columns that the scorer writes."""

from evaluator.measures.base import Macro, Ratio, statistic

text, correct, mistaken = statistic("text"), statistic("correct"), statistic("mistaken")

ACCURACY = Ratio(
    name="accuracy",
    title="Accuracy",
    units=text,
    numerator=correct,
    denominator=text,
    doc="Share of texts with the correct class; for one class this is its recall.",
    source="Sokolova & Lapalme 2009",
)
F1 = Ratio(
    name="f1",
    title="F1",
    units=text,
    numerator=2.0 * correct,
    denominator=text + correct + mistaken,
    empty=0.0,
    variance="f1",
    doc="Harmonic mean of precision and recall, from summed counts; over all classes it equals accuracy.",
    source="Sokolova & Lapalme 2009",
)
MACRO_F1 = Macro(
    name="macro_f1",
    title="Macro F1",
    units=text,
    of=F1,
    over="label",
    variance="f1",
    doc="Unweighted mean of F1 over the classes in gold.",
    source="Sokolova & Lapalme 2009",
)

MEASURES = (ACCURACY, MACRO_F1, F1)
