"""Task metric-correlation: score texts so that scores agree with human ratings (Goodrich et al. 2019, section 8)."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.jsonl.decompress import ReadLimits
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import Facts, Options
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByRank
from evaluator.tasks.metric_correlation import audit
from evaluator.tasks.metric_correlation import gold as gold_file
from evaluator.tasks.metric_correlation.baselines import BASELINES
from evaluator.tasks.metric_correlation.gold import Gold
from evaluator.tasks.metric_correlation.layout import INPUTS, Text
from evaluator.tasks.metric_correlation.measures import MEASURES, SPEARMAN
from evaluator.tasks.metric_correlation.samples import SAMPLES
from evaluator.tasks.metric_correlation.scorer import score
from evaluator.tasks.scored_items.base import ScoreTask
from evaluator.tasks.scored_items.files import Scores


class MetricCorrelation(ScoreTask[Gold]):
    name = "metric-correlation"
    version = 2
    title = "Metric correlation"
    summary = (
        "Score generated texts as people would. A submission is a metric; the human ratings are hidden, and "
        "a metric is better the more its scores agree with them."
    )
    measures = MEASURES
    inputs_format = INPUTS
    dimensions = ()
    gold_format = (
        "One rated text per line: id, human (the mean rating); optional generated and reference, the texts to score, "
        "and system, the name of the system that generated the text; optional group (default: the id) and slices, such "
        "as subset. Partial correlations exist if every line names a system."
    )
    prediction_format = "One answer per line, for every id: id and score, any finite number; a higher one means better."
    prediction_example = '{"id": "text-1", "score": 0.41}\n{"id": "text-2", "score": 0.87}\n'
    gold_only = audit.GOLD_ONLY
    item_statistic = "text"
    item_result = ByRank("its rank by score is one of its ranks by human rating", gold="human", score="score")
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        return SPEARMAN.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, limits)

    def inputs(self, gold: Gold) -> Sequence[Text]:
        return gold.texts

    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the gold's texts: True for those whose human rating is above the median of all ratings."""
        ratings = np.array(gold.ratings, dtype=np.float64)
        return np.asarray(ratings > np.median(ratings))

    def score(self, gold: Gold, answers: Scores, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def gold_fields(self, line: Line) -> GoldFields:
        return audit.gold_fields(line)


TASK = MetricCorrelation()
