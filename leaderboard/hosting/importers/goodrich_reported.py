"""Results that Goodrich et al. 2019 report: fact extraction, and metrics' correlation with human ratings."""

from __future__ import annotations

from leaderboard.benchmarks.manifest import ReportedPart, Value

PAPER = "Goodrich et al. 2019, Assessing The Factual Accuracy of Generated Text"

# Precision, recall and F1, in percent.
_EXTRACTION = {
    "Binary classifier": "59.60 75.13 66.47",
    "Relation classifier": "63.49 68.64 65.96",
    "E2E": "71.67 56.21 63.01",
    "E2E-Reduced": "72.16 61.03 66.13",
}
# Spearman's rank correlation on the subset Actors, and on the random subset.
_CORRELATION = {
    "ROUGE-1": ".583 .384",
    "ROUGE-2": ".639 .435",
    "ROUGE-L": ".634 .339",
    "OpenIE": ".258 .128",
    "fact_acc, Binary classifier": ".596 .200",
    "fact_acc, Relation classifier": ".523 .250",
    "fact_acc, E2E": ".645 .314",
    "fact_acc, E2E-Reduced": ".668 .453",
}
AGREEMENT = "Krippendorff's alpha was .6897 on Actors and .7530 on the random ones"
"""Agreement between the human raters whose ratings the results in CORRELATION use."""

EXTRACTION = [
    ReportedPart(
        system=system,
        paper=PAPER,
        split="WikiFact test set",
        values=[
            Value(measure=measure, value=float(f"{number}e-2"), shown=number)
            for measure, number in zip(("precision", "recall", "f1"), printed.split(), strict=True)
        ],
        note="Printed in percent.",
    )
    for system, printed in _EXTRACTION.items()
]
CORRELATION = [
    ReportedPart(
        system=system,
        paper=PAPER,
        split="Rated summaries of Wikipedia articles: Actors, and random ones",
        values=[
            Value(measure="spearman", value=float(number), shown=f"0{number}", slice={"subset": subset})
            for subset, number in zip(("Actors", "random"), printed.split(), strict=True)
        ],
    )
    for system, printed in _CORRELATION.items()
]
