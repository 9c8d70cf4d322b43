"""Task metric-correlation: score texts so that scores agree with human ratings (Goodrich et al. 2019, section 8)."""

import numpy as np
import numpy.typing as npt

from evaluator.tasks.base import Options
from evaluator.tasks.gold_fields import GoldFields, Line, present
from evaluator.tasks.item_results import ByRank
from evaluator.tasks.items.base import ItemStatistics
from evaluator.tasks.items.scores import Scores, ScoreTask
from evaluator.tasks.metric_correlation.audit import AUDIT
from evaluator.tasks.metric_correlation.baselines import BASELINES
from evaluator.tasks.metric_correlation.layout import GOLD, INPUTS, Gold
from evaluator.tasks.metric_correlation.measures import MEASURES, SPEARMAN
from evaluator.tasks.metric_correlation.samples import SAMPLES


class MetricCorrelation(ScoreTask[Gold]):
    name = "metric-correlation"
    version = 2
    title = "Metric correlation"
    summary = (
        "Score generated texts as people would. A submission is a metric; the human ratings are hidden, and "
        "a metric is better the more its scores agree with them."
    )
    measures = MEASURES
    ranked_by = SPEARMAN.name
    gold_layout, inputs_layout = GOLD, INPUTS
    gold_type = Gold
    dimensions = ()
    gold_format = (
        "One rated text per line: id, human (the mean rating); optional generated and reference, the texts to score, "
        "and system, the name of the system that generated the text; optional group (default: the id) and slices, such "
        "as subset. Partial correlations exist if every line names a system."
    )
    prediction_format = "One answer per line, for every id: id and score, any finite number; a higher one means better."
    prediction_example = '{"id": "text-1", "score": 0.41}\n{"id": "text-2", "score": 0.87}\n'
    gold_only = frozenset({"human", "system"})
    item_statistic = "text"
    item_result = ByRank("its rank by score is one of its ranks by human rating", gold="human", score="score")
    samples = SAMPLES
    baselines = BASELINES
    audit = AUDIT

    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the gold's texts: True for those whose human rating is above the median of all ratings."""
        ratings = np.array(gold.ratings, dtype=np.float64)
        return np.asarray(ratings > np.median(ratings))

    def statistics(self, gold: Gold, answers: Scores, options: Options) -> ItemStatistics:
        columns = {"text": np.ones(len(gold.lines)), "human": np.array(gold.ratings), "score": answers.values}
        systems = gold.systems
        names_systems = None not in systems
        if names_systems:
            number: dict[str | int | None, int] = {}
            columns["system"] = np.array([number.setdefault(system, len(number)) for system in systems])
        return ItemStatistics(columns, facts={"system": names_systems})

    def gold_fields(self, line: Line) -> GoldFields:
        question = present(line, "generated", "reference")
        return GoldFields(question, {"human": float(line["human"])}, system=present(line, "system"))


TASK = MetricCorrelation()
