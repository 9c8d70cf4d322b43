"""Task fact-checking: score how likely a triple is to be true, as in the benchmark BUCKLE (Huynh & Papotti 2019)."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.jsonl.decompress import ReadLimits
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import DimensionDoc, Facts, Options
from evaluator.tasks.fact_checking import audit
from evaluator.tasks.fact_checking import gold as gold_file
from evaluator.tasks.fact_checking.baselines import BASELINES
from evaluator.tasks.fact_checking.gold import Gold
from evaluator.tasks.fact_checking.layout import INPUTS, Claim
from evaluator.tasks.fact_checking.measures import AUROC, MEASURES
from evaluator.tasks.fact_checking.samples import SAMPLES
from evaluator.tasks.fact_checking.scorer import score
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByRank
from evaluator.tasks.scored_items.base import ScoreTask
from evaluator.tasks.scored_items.files import Scores


class FactChecking(ScoreTask[Gold]):
    name = "fact-checking"
    version = 1
    title = "Fact checking"
    summary = (
        "Score triples by how likely they are to be true. Scenarios show how a system does on false triples "
        "that resemble true ones, on narrow domains, and on entities with few known facts."
    )
    measures = MEASURES
    inputs_format = INPUTS
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
    gold_only = audit.GOLD_ONLY
    item_statistic = "claim"
    item_result = ByRank(
        "a true claim is among the first n by score, where n claims are true; a false one is not",
        gold="positive",
        score="score",
        labels={0.0: "FALSE", 1.0: "TRUE"},
    )
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        return AUROC.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, limits)

    def inputs(self, gold: Gold) -> Sequence[Claim]:
        return gold.claims

    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the claims: True for the true ones."""
        return np.array(gold.labels, dtype=np.bool_)

    def score(self, gold: Gold, answers: Scores, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def gold_fields(self, line: Line) -> GoldFields:
        return audit.gold_fields(line)


TASK = FactChecking()
