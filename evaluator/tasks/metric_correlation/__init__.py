"""metric-correlation: does a metric score texts as people do? Goodrich et al. 2019, section 8."""

from typing import Any, BinaryIO

import msgspec

from evaluator.definition import Facts, Options, Task
from evaluator.outcomes import Outcomes
from evaluator.score_files import Places, Scores, no_scores, read_places, read_scores, salted_order
from evaluator.tasks.metric_correlation import gold as gold_file
from evaluator.tasks.metric_correlation.gold import Gold
from evaluator.tasks.metric_correlation.layout import INPUTS
from evaluator.tasks.metric_correlation.measures import MEASURES, SPEARMAN
from evaluator.tasks.metric_correlation.scorer import score
from evaluator.unpacking import ReadLimits


class MetricCorrelation(Task[Gold, Places, Scores]):
    name = "metric-correlation"
    version = 2
    title = "Metric correlation"
    summary = (
        "Score generated texts as people would. What is submitted is a metric; hidden are the ratings that people "
        "gave, and a metric is as good as its scores agree with them."
    )
    measures = MEASURES
    dimensions = ()
    gold_format = (
        "One rated text a line: id, human (the mean rating); optional generated and reference, the texts to score, and "
        "system, what generated the text; optional group (default: the id) and slices, such as subset. Partial "
        "correlations exist where every line names a system."
    )
    prediction_format = "One answer a line for every id: id and score, any finite number; a higher one means better."
    prediction_example = '{"id": "text-1", "score": 0.41}\n{"id": "text-2", "score": 0.87}\n'

    def primary(self, facts: Facts | None = None) -> str:
        return SPEARMAN.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, limits)

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> Places:
        return read_places(stream, file, INPUTS, limits)

    def known(self, gold: Gold) -> Places:
        return gold.ids

    def read_predictions(
        self, stream: BinaryIO, file: str, known: Places, options: Options, limits: ReadLimits | None = None
    ) -> Scores:
        return read_scores(stream, file, known, limits)

    def unanswered(self, gold: Gold) -> Scores:
        return no_scores(len(gold.texts))

    def score(self, gold: Gold, answers: Scores, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {}

    def public_inputs(self, gold: Gold) -> bytes:
        """In salted order: gold may stand sorted by system or by rating."""
        texts = salted_order(gold.texts, self.name)
        return msgspec.json.Encoder().encode_lines(texts)


TASK = MetricCorrelation()
