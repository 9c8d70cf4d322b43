"""Measures of metric-correlation: Spearman's, Pearson's and Kendall's correlation, and two within systems."""

from typing import Any

from evaluator.measures.base import statistic
from evaluator.measures.correlation import Kendall, Pearson, Spearman, WithinSystemPearson, WithinSystemSpearman

_EQUAL = "all ratings or all scores are equal"
_CONSTANT = f"No value where {_EQUAL}."
_COLUMNS: dict[str, Any] = {
    **{"units": statistic("text"), "low": -1.0},
    **{"x": "human", "y": "score", "none_where": _EQUAL},
}

SPEARMAN = Spearman(
    name="spearman",
    variance="correlation",
    title="Spearman",
    source="Spearman 1904; average ranks for ties, Kendall & Gibbons 1990",
    doc="Correlation of the ranks of human ratings and of the metric's scores, equal values sharing their average "
    f"rank. {_CONSTANT} Ratings 1, 2, 3, 3 and scores 5, 6, 9, 7: ranks 1, 2, 3.5, 3.5 and 1, 2, 4, 3, so .949.",
    **_COLUMNS,
)
PEARSON = Pearson(
    name="pearson",
    title="Pearson",
    source="Pearson 1896",
    doc="Correlation of human ratings and the metric's scores: covariance over the product of standard "
    f"deviations. {_CONSTANT} Ratings 1, 2, 3 and scores 1, 2, 6: 5 / sqrt(2 * 14), .945.",
    **_COLUMNS,
)
KENDALL = Kendall(
    name="kendall",
    title="Kendall tau-b",
    source="Kendall 1945",
    doc="Pairs of texts that ratings and scores order the same way (concordant), minus pairs in opposite order "
    "(discordant), over the geometric mean of the pairs untied in each. "
    f"{_CONSTANT} Ratings 1, 2, 3, 3 and scores 5, 6, 9, 7: 5 pairs concordant, none discordant, "
    "5 / sqrt(5 * 6), .913.",
    **_COLUMNS,
)
PARTIAL_SPEARMAN = WithinSystemSpearman(
    name="partial_spearman",
    title="Partial Spearman",
    system="system",
    requires="system",
    source="after Pagnoni et al. 2021",
    doc="Spearman's correlation within systems: each system's mean (in the slice) is subtracted from ratings and "
    "scores before they are ranked, so separating good systems from bad ones earns nothing. "
    f"{_CONSTANT} System a: ratings 1, 3 and scores 2, 4; system b: ratings 5, 5 and scores 8, 6. The residuals, "
    "-1, 1, 0, 0 and -1, 1, 1, -1, have ranks 1, 4, 2.5, 2.5 and 1.5, 3.5, 3.5, 1.5: .707.",
    **_COLUMNS,
)
PARTIAL_PEARSON = WithinSystemPearson(
    name="partial_pearson",
    title="Partial Pearson",
    system="system",
    requires="system",
    source="after Pagnoni et al. 2021",
    doc="Pearson's correlation within systems: each system's mean (in the slice) is subtracted from ratings and scores "
    f"first. {_CONSTANT} System a: ratings 1, 3 and scores 2, 4; system b: ratings 5, 5 and scores 8, 6. The residuals "
    "are -1, 1, 0, 0 and -1, 1, 1, -1: 2 / sqrt(2 * 4), .707.",
    **_COLUMNS,
)

MEASURES = (SPEARMAN, PEARSON, KENDALL, PARTIAL_SPEARMAN, PARTIAL_PEARSON)
