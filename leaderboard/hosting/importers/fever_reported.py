"""Results that Schuster et al. 2019 report for FEVER and FEVER Symmetric, and results on FEVER Symmetric's web page."""

from __future__ import annotations

from typing import Any

from leaderboard.benchmarks.manifest import ReportedPart, Value

PAPER = "Schuster et al. 2019, Towards Debiasing Fact Verification Models"
PAGE = "FEVER Symmetric's own page (TalSchuster/FeverSymmetric), mean and deviation of five runs"
GENERATED = "FEVER Symmetric v0.1, the 717 generated pairs"
TWO_LABELS = "FEVER dev, SUPPORTS and REFUTES claims"
ALL_LABELS = "FEVER dev, three labels"

# Each system's accuracies on (FEVER dev, generated pairs), trained on FEVER, and then trained on re-weighted claims.
_SYSTEMS = {
    "NSMN": (("81.8", "58.7"), None),
    "ESIM": (("80.8", "55.9"), ("76.0", "59.3")),
    "BERT": (("86.2", "58.3"), ("84.6", "61.6")),
}
_FIVE_RUNS = {"BERT, five runs": ("85.85±.5", "57.46±1.6"), "BERT, five runs, re-weighted": ("85.95±.5", "61.62±1.2")}
_THREE_LABELS = {
    "Majority label": "33.3",
    "DA (decomposable attention)": "52.1",
    "NSMN": "69.7",
    "InferSent, claim only, random vectors": "54.1",
    "InferSent, claim only, GloVe vectors": "57.3",
    "BERT, claim only": "61.7",
}


def _row(system: str, shown: str, paper: str, split: str, *, same: bool = False) -> ReportedPart:
    slice_: dict[str, Any] = {"origin": "generated"} if split == GENERATED else {}
    # The numbers are printed in percent, sometimes with a standard deviation. They are parsed from the decimal digits
    # with an exponent, so that 81.8 becomes exactly .818.
    number = shown.partition("±")[0]
    value = Value(measure="accuracy", value=float(f"{number}e-2"), shown=shown, slice=slice_)
    return ReportedPart(system=system, paper=paper, split=split, same_split=same, values=[value])


def _pair(system: str, shown: tuple[str, str], paper: str, *, same: bool) -> list[ReportedPart]:
    dev, generated = shown
    return [
        _row(system, generated, paper, GENERATED, same=same),
        _row(system, dev, paper, TWO_LABELS),
    ]


def symmetric(*, hosts_v01: bool) -> list[ReportedPart]:
    """Return the reported results of FEVER Symmetric.

    hosts_v01: True if version 0.1 is hosted; then results on its generated pairs are marked as measured on a hosted
    split.
    """
    rows = []
    for system, (base, reweighted) in _SYSTEMS.items():
        rows += _pair(system, base, PAPER, same=hosts_v01)
        if reweighted:
            rows += _pair(f"{system}, re-weighted", reweighted, PAPER, same=hosts_v01)
    for system, shown in _FIVE_RUNS.items():
        rows += _pair(system, shown, PAGE, same=hosts_v01)
    return rows


THREE_LABELS = [_row(system, shown, PAPER, ALL_LABELS) for system, shown in _THREE_LABELS.items()]
