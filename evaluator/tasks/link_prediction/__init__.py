"""Task link-prediction: rank mentions for the missing subject or object of a triple, as in OLPBENCH (Broscheit et al.
2020).
"""

from typing import Any

import numpy as np

from evaluator.measures.base import statistic
from evaluator.tasks.answers import CategoricalAnswers
from evaluator.tasks.base import DimensionDoc, Facts, Option, Options
from evaluator.tasks.gold_fields import GoldFields, Line, distinct, present
from evaluator.tasks.item_results import ByMeasure, ItemValue
from evaluator.tasks.items.base import ItemStatistics, ItemTask
from evaluator.tasks.link_prediction.audit import AUDIT
from evaluator.tasks.link_prediction.baselines import BASELINES
from evaluator.tasks.link_prediction.gold import Gold
from evaluator.tasks.link_prediction.layout import GOLD, INPUTS, PREDICTIONS, QUERY_MARKER, side
from evaluator.tasks.link_prediction.measures import CUTS, MEASURES, MRR
from evaluator.tasks.link_prediction.predictions import Answers, FirstMentions
from evaluator.tasks.link_prediction.samples import SAMPLES


def _is_filtered(text: str) -> bool:
    if text not in {"filtered", "raw"}:
        raise ValueError("filtered or raw")
    return text == "filtered"


class LinkPrediction(ItemTask[Gold, Answers]):
    name = "link-prediction"
    version = 1
    title = "Link prediction"
    summary = (
        "Complete triples: rank mentions for the missing subject or object. Every mention of the right entity is an "
        "answer, and other known answers do not count against a ranking."
    )
    measures = MEASURES
    ranked_by = MRR.name
    gold_layout, inputs_layout, predictions_layout = GOLD, INPUTS, PREDICTIONS
    gold_type, answers_type, compared_type = Gold, Answers, FirstMentions
    complete = False
    shown = "question"
    dimensions = (DimensionDoc("side", "The missing part of the triple: head (the subject) or tail (the object)."),)
    own_options = (
        Option(
            "setting",
            "filtered: other known answers are removed from a ranking; raw: they stay in it.",
            "filtered",
            _is_filtered,
        ),
    )
    gold_format = (
        'One question per line: id, question (["subject", "relation", "?"] or ["?", "relation", "object"]), answers '
        "(every mention of the evaluated entity) and filtered (mentions of the other known answers, which may be "
        "empty). Optional group (default: the id) and slices; the slice side, head or tail, is derived from the "
        "question if slices does not give it."
    )
    prediction_format = (
        "One ranking per line: id and ranking, a list of at most 1000 mentions, best first. Mentions are compared "
        "exactly; a repeated mention counts at its first rank. A question without a line, or with an "
        "empty ranking, counts as not found."
    )
    prediction_example = (
        '{"id": "0", "ranking": ["New York", "NYC", "Los Angeles"]}\n{"id": "1", "ranking": ["NBC-TV"]}\n'
    )
    gold_only = frozenset({"answers", "filtered"})
    item_statistic = "question"
    item_result = ByMeasure(
        "an answer is first in the ranking",
        (ItemValue("Rank of the first answer", statistic("question"), statistic("reciprocal_rank")),),
    )
    samples = SAMPLES
    baselines = BASELINES
    audit = AUDIT

    def statistics(self, gold: Gold, answers: Answers, options: Options) -> ItemStatistics:
        raw, filtered_before = answers.ranks.T
        rank = raw - filtered_before if options["setting"] else raw
        has_answer = rank > 0
        columns: dict[str, Any] = {
            "question": np.ones(len(rank)),
            "reciprocal_rank": np.where(has_answer, 1 / np.maximum(rank, 1), 0.0),
        }
        columns |= {f"hits_{k}": has_answer & (rank <= k) for k in CUTS}
        return ItemStatistics(columns, {"side": [side(question) for question in gold.questions]})

    def comparable(self, gold: Gold, answers: FirstMentions) -> CategoricalAnswers:
        return CategoricalAnswers(np.arange(len(answers.answers), dtype=np.uint64), answers.answers, answers.errs)

    def sample(self, line: Line, facts: Facts) -> Line:
        subject, _, object_ = line["question"]
        return {"ranking": [object_ if subject == QUERY_MARKER else subject]}

    def gold_fields(self, line: Line) -> GoldFields:
        many = {name: distinct(line[name]) for name in ("answers", "filtered")}
        return GoldFields(present(line, "question"), many=many)


TASK = LinkPrediction()
