"""Task fact-checking: score how likely a triple is to be true, as in the benchmark BUCKLE (Huynh & Papotti 2019)."""

import numpy as np
import numpy.typing as npt

from evaluator.tasks.base import DimensionDoc, Options
from evaluator.tasks.fact_checking.audit import AUDIT
from evaluator.tasks.fact_checking.baselines import BASELINES
from evaluator.tasks.fact_checking.layout import GOLD, INPUTS, Gold
from evaluator.tasks.fact_checking.measures import AUROC, MEASURES
from evaluator.tasks.fact_checking.samples import SAMPLES
from evaluator.tasks.item_results import ByRank
from evaluator.tasks.items.base import ItemStatistics
from evaluator.tasks.items.scores import Scores, ScoreTask


class FactChecking(ScoreTask[Gold]):
    name = "fact-checking"
    version = 1
    title = "Fact checking"
    summary = (
        "Score triples by how likely they are to be true. Scenarios show how a system does on false triples "
        "that resemble true ones, on narrow domains, and on entities with few known facts."
    )
    measures = MEASURES
    ranked_by = AUROC.name
    gold_layout, inputs_layout = GOLD, INPUTS
    gold_type = Gold
    dimensions = (DimensionDoc("relation", "The triple's relation."),)
    gold_format = (
        "One claim per line: id, subject, relation, object, label (true or false). Optional group (default: the id) "
        "and slices, such as transparency, homogeneity, popularity and scenario; the slice relation is derived from "
        "the claim if slices does not give it."
    )
    prediction_format = (
        "One answer per line, for every id: id and score, any finite number; a higher one means more likely true. Only "
        "the order of the scores counts."
    )
    prediction_example = '{"id": "k3f9", "score": 0.82}\n{"id": "a07c", "score": -1.5}\n'
    gold_only = frozenset({"label"})
    item_statistic = "claim"
    item_result = ByRank(
        "a true claim is among the first n by score, where n claims are true; a false one is not",
        gold="positive",
        score="score",
        labels={0.0: "FALSE", 1.0: "TRUE"},
    )
    samples = SAMPLES
    baselines = BASELINES
    audit = AUDIT

    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the claims: True for the true ones."""
        return np.array(gold.labels, dtype=np.bool_)

    def statistics(self, gold: Gold, answers: Scores, options: Options) -> ItemStatistics:
        return ItemStatistics(
            {"claim": np.ones(len(gold.lines)), "positive": self.high(gold), "score": answers.values},
            {"relation": [claim.relation for claim in gold.lines]},
        )


TASK = FactChecking()
