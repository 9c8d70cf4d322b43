"""Measures of link-prediction: mean reciprocal rank and Hits@k."""

from evaluator.measures.base import Ratio, statistic

CUTS = (1, 3, 10, 50)
_SOURCE = "Bordes et al. 2013; mention ranking Broscheit et al. 2020"

question = statistic("question")

MRR = Ratio(
    name="mrr",
    title="MRR",
    units=question,
    numerator=statistic("reciprocal_rank"),
    denominator=question,
    source=_SOURCE,
    doc="Mean reciprocal rank: the mean over questions of 1 / rank of the first answer, 0 where the ranking has no "
    "answer.",
)
HITS = tuple(
    Ratio(
        name=f"hits@{k}",
        title=f"Hits@{k}",
        units=question,
        numerator=statistic(f"hits_{k}"),
        denominator=question,
        source=_SOURCE,
        doc="Share of questions whose first-ranked mention is an answer."
        if k == 1
        else f"Share of questions with an answer in the first {k} ranks.",
    )
    for k in CUTS
)
MEASURES = (MRR, *HITS)
