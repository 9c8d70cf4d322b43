"""BUCKLE's published results (Huynh & Papotti 2019): AUROC by popularity of the entities."""

from __future__ import annotations

from leaderboard.benchmarks.manifest import ReportedPart, Value

PAPER = "Huynh & Papotti 2019, A Benchmark for Fact Checking Algorithms Built on Knowledge Bases"
INFERRED = "Order of methods inferred from a garbled table"

# Seconds that a method needs for 300 claims (the paper's Table 6).
SECONDS = {"KL": "1420", "KG-Miner": "30", "SFE": "20", "TransE": "5"}
POPULARITY = ("popular", "non-popular", "random")
_METHODS = ("KG-Miner", "KL", "SFE", "TransE")
# For each relation, the AUROC of each of _METHODS for popular, non-popular and random entities.
_AUROC = {
    "nearestCity": (".84 .58 .69", ".87 .66 .76", ".72 .60 .68", ".49 .40 .43"),
    "foundedBy": (".80 .63 .81", ".82 .67 .80", ".63 .60 .81", ".75 .60 .75"),
    "manufacturer": (".55 .51 .53", ".90 .85 .92", ".54 .53 .55", ".72 .47 .60"),
    "employer": (".58 .38 .50", ".69 .43 .66", ".66 .50 .62", ".62 .46 .43"),
}


def _row(method: str, relation: str, printed: str) -> ReportedPart:
    values = [
        Value(measure="auroc", value=float(number), shown=f"0{number}", slice={"popularity": popularity})
        for popularity, number in zip(POPULARITY, printed.split(), strict=True)
    ]
    return ReportedPart(
        system=method,
        paper=PAPER,
        split=f"{relation}: popular, non-popular and random entities",
        values=values,
        note=f"{INFERRED}; 300 claims took {SECONDS[method]} seconds (Table 6).",
    )


ROWS = [
    _row(method, relation, printed)
    for relation, numbers in _AUROC.items()
    for method, printed in zip(_METHODS, numbers, strict=True)
]
