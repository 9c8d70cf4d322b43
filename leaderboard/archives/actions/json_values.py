"""The forms of values in JSON that pages read, so that no archive stores one at which a page fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db.models import Model

from evaluator.custom_scorer.measures import MeasureDeclaration
from evaluator.jobs.base import ProblemRow
from evaluator.outcomes.table import SliceValue
from leaderboard.models import (
    Correction,
    Generation,
    GoldVersion,
    Leaderboard,
    Prediction,
    Release,
    ReleaseSlice,
    Run,
    Score,
    Scorer,
)

Number = int | float | None


class Revealed(msgspec.Struct):
    """A score as a phase has revealed it."""

    measure: str
    slice: dict[str, SliceValue]
    value: Number = None
    low: Number = None
    high: Number = None
    n: Number = None


FORMS: Mapping[tuple[type[Model], str], Any] = {
    (GoldVersion, "dimensions"): dict[str, list[SliceValue]],
    (GoldVersion, "measures"): list[str],
    (GoldVersion, "warnings"): list[str],
    (Correction, "counts"): dict[str, int],
    (Generation, "problems"): list[ProblemRow],
    (Prediction, "problems"): list[ProblemRow],
    (Prediction, "warnings"): list[str],
    (Prediction, "cost"): dict[str, Number],
    (Run, "problems"): list[ProblemRow],
    (Run, "warnings"): list[str],
    (Scorer, "measures"): list[MeasureDeclaration],
    (Score, "slice"): dict[str, SliceValue],
    (Release, "values"): list[Revealed],
    (Release, "warnings"): list[str],
    (Release, "cost"): dict[str, Number] | None,
    (ReleaseSlice, "scores"): dict[str, list[Number]],
    (Leaderboard, "slice_groups"): dict[str, dict[str, int]],
}
"""(Model, field) -> form of its values, as msgspec has it. Other fields are checked by `row_checks.FORMS`, or shown."""


def check(model: type[Model], name: str, value: Any) -> None:
    """Raise ValueError if a value of a JSON field does not have the form that pages expect."""
    form = FORMS.get((model, name))
    if form is not None:
        msgspec.convert(value, form)  # raises ValidationError, a ValueError
