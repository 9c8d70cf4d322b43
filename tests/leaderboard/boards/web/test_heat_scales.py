"""Diverging colour scales and their legends; every shade is distinguishable and readable."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import leaderboard
from evaluator.tasks.registry import TASKS
from leaderboard.boards.web.charts.heat import LEVELS, fitted, legend, legends, level, neutral, shade
from tests.leaderboard.boards.web.test_heat import ENDLESS, RIGHT, WRONG
from tests.leaderboard.static.test_contrast import DARK, contrast, tokens

AUROC = TASKS["fact-checking"].measure("auroc")
PRECISION = TASKS["fact-checking"].measure("average_precision")
SPEARMAN = TASKS["metric-correlation"].measure("spearman")
PEARSON = TASKS["metric-correlation"].measure("pearson")
GAP = TASKS["fact-verification"].measure("symmetric_gap")
HARM = replace(SPEARMAN, name="harm", higher_is_better=False)
SHEET = Path(leaderboard.__file__).parent / "static" / "css" / "matrices.css"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1.0, "warm-10"), (-0.3, "warm-3"), (-0.04, "heat-0"), (0.0, "heat-0"), (0.3, "heat-3"), (1.0, "heat-10")],
)
def test_a_correlation_changes_colour_at_zero(value: float, expected: str):
    assert shade(value, SPEARMAN) == expected


@pytest.mark.parametrize(("value", "expected"), [(0.0, -10), (0.25, -5), (0.5, 0), (0.75, 5), (1.0, 10)])
def test_auroc_changes_colour_at_chance_level(value: float, expected: int):
    assert level(value, AUROC) == expected


def test_where_lower_is_better_the_colours_are_swapped():
    assert (shade(0.3, HARM), shade(-0.3, HARM)) == ("warm-3", "heat-3")


def test_which_measures_have_a_neutral_value():
    neutral_values = {measure.name: neutral(measure) for task in TASKS.values() for measure in task.measures}
    assert {name for name, value in neutral_values.items() if value is not None} == {
        *("auroc", "symmetric_gap", "spearman", "pearson", "kendall", "partial_spearman", "partial_pearson")
    }
    assert neutral_values["auroc"] == 0.5
    assert neutral_values["spearman"] == 0.0


def test_values_outside_the_bounds_get_the_last_shade():
    assert (level(1.5, SPEARMAN), level(-1.5, SPEARMAN)) == (LEVELS, -LEVELS)


def test_no_value_has_no_shade():
    assert shade(None, SPEARMAN) == shade(3.0, ENDLESS) == ""


@pytest.mark.parametrize("measure", [RIGHT, WRONG, AUROC, SPEARMAN, GAP, HARM], ids=lambda measure: measure.name)
def test_a_legend_has_the_shades_of_evenly_spaced_values(measure):
    scale_legend = legend(measure)
    shades = [*scale_legend.below, *scale_legend.above]
    steps = len(shades) - 1
    at = [scale_legend.low + (scale_legend.high - scale_legend.low) * i / steps for i in range(steps + 1)]
    assert shades == [shade(value, measure) for value in at]
    assert len(scale_legend.below) == (0 if scale_legend.neutral is None else LEVELS)


def test_measures_on_one_scale_share_a_legend():
    assert legend(ENDLESS) is None
    assert [names for names, _ in legends([SPEARMAN, PEARSON, ENDLESS])] == [f"{SPEARMAN.title}, {PEARSON.title}"]
    assert [names for names, _ in legends([AUROC, PRECISION])] == [AUROC.title, PRECISION.title]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_numbers_are_readable_on_every_shade(mode: str):
    light, dark = SHEET.read_text().split(DARK, 1)
    rule = r"\.((?:heat|warm)-\d+) \{ --heat: (#\w+);(?: --heat-ink: (#\w+);)?"
    shades = re.findall(rule, light if mode == "light" else dark)
    levels = [*range(LEVELS + 1), *range(-1, -LEVELS - 1, -1)]
    assert [name for name, _, _ in shades] == [shade(level / LEVELS, SPEARMAN) for level in levels]
    ink = tokens(mode)["ink"]
    assert not [name for name, ground, own in shades if contrast(ground, own or ink) < 4.5]


def test_a_fitted_scale_spans_the_shown_values() -> None:
    tight = fitted(AUROC, [0.71234, None, 0.9])
    assert (tight.low, tight.high) == (0.712, 0.9)
    assert [level(value, tight) for value in (0.712, 0.9)] == [0, LEVELS], "all values are above chance: one colour"
    around = fitted(AUROC, [0.4, 0.9])
    assert [level(value, around) for value in (0.4, 0.5, 0.9)] == [-LEVELS, 0, LEVELS]
    assert level(0.7, fitted(AUROC, [0.7])) == LEVELS and fitted(AUROC, [None]) is AUROC
    assert level(3.0, fitted(ENDLESS, [1.0, 3.0])) is not None, (
        "a measure without bounds has shades on its board's scale"
    )
