"""OLPBENCH's published results (Broscheit et al. 2020) on one test set, with training data at three cleaning levels."""

from __future__ import annotations

from leaderboard.benchmarks.manifest import ReportedPart, TrackPart, Value

PAPER = (
    "Broscheit et al. 2020, Can We Predict New Facts with Open Knowledge Graph Embeddings? "
    "A Benchmark for Open Link Prediction"
)
MEASURES = ("mrr", "hits@1", "hits@10", "hits@50")
TEST_TRIPLES = 10_000

# MRR, Hits@1, Hits@10 and Hits@50 in percent, by (training data, system, validation data used for model selection).
_ROWS = {
    ("SIMPLE", "PREDICT-WITH-ENT", ""): "0 0 0 0",
    ("SIMPLE", "PREDICT-WITH-REL", ""): "1.5 0.8 2.6 5.4",
    ("SIMPLE", "ComplEx-LSTM", ""): "6.5 3.8 11.6 20.7",
    ("BASIC", "PREDICT-WITH-ENT", ""): "0 0 0 0",
    ("BASIC", "PREDICT-WITH-REL", ""): "1.0 0.5 1.6 3.6",
    ("BASIC", "ComplEx-LSTM", ""): "4.8 2.6 8.9 17.6",
    ("THOROUGH", "PREDICT-WITH-ENT", ""): "0 0 0 0",
    ("THOROUGH", "PREDICT-WITH-REL", ""): "1.0 0.6 1.5 3.3",
    ("THOROUGH", "ComplEx-LSTM", "LINKED"): "3.9 2.1 7.0 14.6",
    ("THOROUGH", "ComplEx-LSTM", "ALL"): "2.7 1.5 4.7 9.1",
    ("THOROUGH", "ComplEx-LSTM", "MENTION"): "3.8 2.1 7.1 14.1",
}

TRACKS = [
    TrackPart(name="simple", title="SIMPLE", description="Learnt from the training data cleaned at the level SIMPLE."),
    TrackPart(name="basic", title="BASIC", description="Learnt from the training data cleaned at the level BASIC."),
    TrackPart(
        name="thorough", title="THOROUGH", description="Learnt from the training data cleaned at the level THOROUGH."
    ),
]
"""Tracks: the training data that a submission declares."""


def rows(*, hosts_test: bool) -> list[ReportedPart]:
    """Return the reported results of OLPBENCH.

    hosts_test: True if the published test triples are hosted; then the results are marked as measured on a hosted
    split.
    """
    return [
        ReportedPart(
            system=system,
            paper=PAPER,
            split=f"OLPBENCH test, trained on {train}{f', selected on {selected}' if selected else ''}",
            same_split=hosts_test,
            track=train.lower(),
            values=[
                Value(measure=measure, value=float(f"{number}e-2"), shown=number)
                for measure, number in zip(MEASURES, printed.split(), strict=True)
            ],
            note="Printed in percent.",
        )
        for (train, system, selected), printed in _ROWS.items()
    ]
