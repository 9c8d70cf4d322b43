"""Task fact-extraction: extract the facts that a text states, as in WikiFact (Goodrich et al. 2019)."""

import numpy as np

from evaluator.measures.base import statistic
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.answers import CategoricalAnswers, predicted_or_gold
from evaluator.tasks.base import DimensionDoc, Facts, Options
from evaluator.tasks.fact_extraction import scorer
from evaluator.tasks.fact_extraction.audit import AUDIT
from evaluator.tasks.fact_extraction.baselines import BASELINES
from evaluator.tasks.fact_extraction.gold import Gold
from evaluator.tasks.fact_extraction.layout import GOLD, INPUTS, PREDICTIONS
from evaluator.tasks.fact_extraction.measures import F1, MEASURES
from evaluator.tasks.fact_extraction.predictions import AllFacts, Answers
from evaluator.tasks.fact_extraction.samples import SAMPLES
from evaluator.tasks.gold_fields import GoldFields, Line, distinct, present
from evaluator.tasks.item_results import ByMeasure, Indices, ItemValue
from evaluator.tasks.items.base import ItemStatistics, ItemTask


class FactExtraction(ItemTask[Gold, Answers]):
    name = "fact-extraction"
    version = 1
    title = "Fact extraction"
    summary = (
        "Extract the facts that a text states, as (subject, relation, object). Factual accuracy is the share of "
        "correct facts among those that gold can verify."
    )
    measures = MEASURES
    ranked_by = F1.name
    gold_layout, inputs_layout, predictions_layout = GOLD, INPUTS, PREDICTIONS
    gold_type, answers_type, compared_type = Gold, Answers, AllFacts
    complete = False
    shown = "subject"
    dimensions = (
        DimensionDoc(
            "relation",
            "The relation of the fact; one slice for each relation of the gold. Predicted facts of other relations "
            "count only in the overall score: its precision may be below that of every relation.",
        ),
    )
    gold_format = (
        'One text per line: id and facts, a list of ["subject", "relation", "object"], which may be empty; optional '
        "text and subject, which the public inputs show; optional group (default: the id) and slices."
    )
    prediction_format = (
        'One text per line: id and facts, a list of ["subject", "relation", "object"]. Facts are a set, compared '
        "exactly: order and repetition do not matter. A text without a line counts as one without facts."
    )
    prediction_example = (
        '{"id": "7", "facts": [["Ada Lovelace", "born in", "London"], ["Ada Lovelace", "child of", "Lord Byron"]]}\n'
        '{"id": "8", "facts": []}\n'
    )
    gold_only = frozenset({"facts"})
    item_statistic = "text"
    item_result = ByMeasure(
        "all facts of the text were found, and no others",
        (
            ItemValue("Found", statistic("found")),
            ItemValue("Wrong", statistic("predicted") + -1.0 * statistic("found")),
            ItemValue("Missed", statistic("gold") + -1.0 * statistic("found")),
        ),
    )
    samples = SAMPLES
    baselines = BASELINES
    audit = AUDIT

    def statistics(self, gold: Gold, answers: Answers, options: Options) -> ItemStatistics:
        return scorer.statistics(gold, answers)

    def item_rows(self, gold: Gold, answers: Answers, outcomes: Outcomes) -> Indices:
        """Return for each row of the outcomes the index of its text.

        Each text has its own row, which the rows of its relations follow.
        """
        return np.cumsum(outcomes.statistics[self.item_statistic]).astype(np.int64) - 1

    def comparable(self, gold: Gold, answers: AllFacts) -> CategoricalAnswers:
        """Return answers whose units are the facts of each text that are predicted or in the gold."""
        facts = [(index, *fact) for index, facts in enumerate(gold.facts) for fact in facts]
        return predicted_or_gold(answers.facts, facts)

    def sample(self, line: Line, facts: Facts) -> Line:
        return {"facts": [[line.get("subject", "subject"), "relation", "object"]]}

    def gold_fields(self, line: Line) -> GoldFields:
        return GoldFields(present(line, "text", "subject"), many={"facts": distinct(line["facts"])})


TASK = FactExtraction()
