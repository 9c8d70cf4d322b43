"""KnowledgeNet's published results on fold 5, whose facts are not public, and maximum recall of baselines on fold 4."""

from __future__ import annotations

from leaderboard.benchmarks.manifest import ReportedPart, Value

PAPER = "Mesquita et al. 2019, KnowledgeNet: A Benchmark Dataset for Knowledge Base Population"
BOARD = "KnowledgeNet's own leaderboard (diffbot/knowledge-net)"
SPLIT = "fold 5, the paper's test set"
DEVELOPMENT = "fold 4, the paper's development set"
CEILING = "What perfect choices among its candidates would reach: a ceiling, no result."

# Precision, recall and F1 by text, then precision, recall and F1 by link.
_PAPER = {
    "KnowledgeNet Baseline 1": ("0.44", "0.64", "0.52", "0.31", "0.26", "0.28"),
    "KnowledgeNet Baseline 2": ("0.49", "0.64", "0.55", "0.37", "0.32", "0.34"),
    "KnowledgeNet Baseline 3": ("0.47", "0.66", "0.55", "0.35", "0.37", "0.36"),
    "KnowledgeNet Baseline 4": ("0.60", "0.65", "0.62", "0.51", "0.48", "0.49"),
    "KnowledgeNet Baseline 5": ("0.68", "0.70", "0.69", "0.53", "0.48", "0.50"),
    "Human": ("0.88", "0.88", "0.88", "0.81", "0.84", "0.82"),
}
# F1 by link, F1 by text; empty if not published.
_BOARD = {
    "Diffbot Joint Model": ("0.726", "0.810"),
    "DYGIE++": ("", "0.754"),
    "Diffbot NER, coref, linker + Matching the Blanks": ("0.695", "0.737"),
    "Diffbot Open Relation Extraction": ("0.546", "0.560"),
}
# For each baseline, the upper bounds of recall by text and of recall by link.
_CEILINGS = {1: ("0.80", "0.33"), 2: ("0.80", "0.37"), 3: ("0.80", "0.37"), 4: ("0.90", "0.59"), 5: ("0.90", "0.59")}


_ALL = ("text_precision", "text_recall", "text_f1", "link_precision", "link_recall", "link_f1")


def _row(system: str, measures: tuple[str, ...], shown: tuple[str, ...], paper: str) -> ReportedPart:
    return ReportedPart(system=system, paper=paper, split=SPLIT, values=_values(measures, shown))


def _values(measures: tuple[str, ...], shown: tuple[str, ...]) -> list[Value]:
    return [
        Value(measure=measure, value=float(text), shown=text)
        for measure, text in zip(measures, shown, strict=True)
        if text
    ]


def rows(*, hosts_fold_4: bool) -> list[ReportedPart]:
    """Return the reported results of KnowledgeNet.

    hosts_fold_4: True if fold 4 is hosted; then the values of maximum recall are marked as measured on a hosted split.
    """
    return [
        *(_row(system, _ALL, shown, PAPER) for system, shown in _PAPER.items()),
        *(_row(system, ("link_f1", "text_f1"), shown, BOARD) for system, shown in _BOARD.items()),
        *(
            ReportedPart(
                system=f"KnowledgeNet Baseline {number}, maximum recall",
                paper=PAPER,
                split=DEVELOPMENT,
                table="Table 4",
                same_split=hosts_fold_4,
                values=_values(("text_recall", "link_recall"), shown),
                note=CEILING,
            )
            for number, shown in _CEILINGS.items()
        ),
    ]
