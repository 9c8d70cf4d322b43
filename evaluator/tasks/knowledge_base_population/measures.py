"""Measures of knowledge-base-population: precision, recall and F1 in three matching modes, and the span ratio."""

import math
from collections.abc import Iterator

from evaluator.measures.base import Macro, Measure, MedianRatio, Ratio, statistic

_SOURCE = "Mesquita et al. 2019, section 5"
_MODES = {
    "text": "subject and object spans overlap with gold's",
    "exact": "subject and object spans equal gold's",
    "link": "subject and object link to gold's entities; facts without links and facts of date properties are left out",
}


def _of_mode(mode: str, description: str) -> Iterator[Measure]:
    units, tp, fp = (statistic(f"{mode}_{name}") for name in ("gold", "tp", "fp"))
    title = mode.capitalize()
    yield Ratio(
        name=f"{mode}_precision",
        title=f"{title} precision",
        units=units,
        numerator=tp,
        denominator=tp + fp,
        empty=0.0,
        source=_SOURCE,
        doc=f"Share of predicted facts that are correct: {description}.",
    )
    yield Ratio(
        name=f"{mode}_recall",
        title=f"{title} recall",
        units=units,
        numerator=tp,
        denominator=units,
        empty=0.0,
        source=_SOURCE,
        doc=f"Share of gold facts that were found: {description}.",
    )
    f1 = Ratio(
        name=f"{mode}_f1",
        variance="f1",
        title=f"{title} F1",
        units=units,
        numerator=2.0 * tp,
        denominator=tp + fp + units,
        empty=0.0,
        source=_SOURCE,
        doc=f"Harmonic mean of precision and recall over the sum of counts (micro): {description}.",
    )
    yield f1
    yield Macro(
        name=f"macro_{mode}_f1",
        title=f"Macro {mode} F1",
        units=units,
        of=f1,
        over="property",
        per_group=True,
        source=_SOURCE,
        doc=f"The unweighted mean of {title} F1 over properties with gold facts.",
    )


SPAN_RATIO = MedianRatio(
    name="span_ratio",
    title="Span ratio",
    units=statistic("text_gold"),
    numerator="predicted_lengths",
    denominator="gold_lengths",
    high=math.inf,
    higher_is_better=None,
    per_group=True,
    source="this project, against predictions that span whole passages",
    doc="Median length of predicted subject and object spans, divided by gold's; a value far above 1 shows "
    "that spans match because they are long.",
)
MEASURES = (*(measure for mode, how in _MODES.items() for measure in _of_mode(mode, how)), SPAN_RATIO)
