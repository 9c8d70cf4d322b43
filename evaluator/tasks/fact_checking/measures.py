"""Measures of fact-checking: AUROC and average precision."""

from evaluator.measures.auroc import Auroc, AveragePrecision
from evaluator.measures.base import statistic

claim = statistic("claim")
_ONE_CLASS = "all claims have the same label"

AUROC = Auroc(
    name="auroc",
    title="AUROC",
    units=claim,
    score="score",
    positive="positive",
    none_where=_ONE_CLASS,
    source="Hanley & McNeil 1982; used for fact checking by Huynh & Papotti 2019",
    doc="Probability that a true claim scores higher than a false one, a tie counting half; .5 is guessing. No value "
    "where all claims have the same label. Scores .9 and .4 of true claims and .4 and .1 of false ones: of four "
    "pairs, three are in order and one is a tie, .875.",
)
AVERAGE_PRECISION = AveragePrecision(
    name="average_precision",
    title="Average precision",
    units=claim,
    score="score",
    positive="positive",
    none_where=_ONE_CLASS,
    source="Buckley & Voorhees 2000; ties as one step, as in scikit-learn",
    doc="Sum over the distinct scores, from the highest, of the step in recall times the precision there. No value "
    "where all claims have the same label. Scores .9 and .4 of true claims and .4 and .1 of false ones: half the "
    "recall at precision 1, half at 2/3, together .833.",
)

MEASURES = (AUROC, AVERAGE_PRECISION)
