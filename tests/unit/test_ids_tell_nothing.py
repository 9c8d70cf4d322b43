"""Neither ids nor the order of lines say anything about labels: a permutation test of every hidden gold in fixtures/,
and of published ids that do tell, as its control."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.settings import ROOT

ALPHA = 1e-4
"""So low that a sound set is not found at fault by chance in years of runs."""
DRAWS = 20_000


def hidden() -> list[tuple[str, str, Path]]:
    """(benchmark, split, gold file) of what is held out."""
    found = []
    for path in sorted(ROOT.glob("fixtures/*/benchmark.json")):
        manifest = json.loads(path.read_text())
        found += [
            (manifest["slug"], split["name"], path.parent / split["gold"])
            for split in manifest["splits"]
            if split.get("gold") and not split.get("gold_public")
        ]
    return found


def answers_of(row: dict[str, Any]) -> list[tuple[str, str]]:
    """What ids must not tell: labels, and which member of a symmetric group it is."""
    told = [("label", json.dumps(row["label"]))] if "label" in row else []
    origin = row.get("slices", {}).get("origin")
    return [*told, ("origin", json.dumps(origin))] if origin else told


def _order(ids: Sequence[Any]) -> list[float]:
    return [float(rank) for rank in np.argsort(np.argsort([str(id_).rjust(40) for id_ in ids]))]


FEATURES: dict[str, Callable[[Sequence[Any]], list[float]]] = {
    "the order of lines": lambda ids: [float(place) for place in range(len(ids))],
    "the order of ids": _order,
    "the length of ids": lambda ids: [float(len(str(id_))) for id_ in ids],
    "the last character": lambda ids: [float(ord(str(id_)[-1])) for id_ in ids],
    "the first character": lambda ids: [float(ord(str(id_)[0])) for id_ in ids],
}


def p_value(feature: Sequence[float], labels: Sequence[str]) -> float:
    """By permutation: how often shuffled labels go with the feature as much as these do (largest difference of a
    label's mean from that of all)."""
    values = np.array(feature)
    codes = np.unique(np.array(labels), return_inverse=True)[1]
    if values.std() == 0 or codes.max() == 0:
        return 1.0
    values = (values - values.mean()) / values.std()
    counts = np.bincount(codes)

    def statistic(shuffled: Any) -> float:
        return float(np.max(np.abs(np.bincount(codes, weights=shuffled)) / np.sqrt(counts)))

    own = statistic(values)
    random = np.random.default_rng(int(hashlib.sha256(str(labels).encode()).hexdigest()[:8], 16))
    more = sum(statistic(random.permutation(values)) >= own - 1e-12 for _ in range(DRAWS))
    return (1 + more) / (1 + DRAWS)


def told(rows: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """What goes with what, and its p."""
    ids = [row["id"] for row in rows]
    found = {}
    for name in {name for row in rows for name, _ in answers_of(row)}:
        labels = [dict(answers_of(row)).get(name, "") for row in rows]
        for what, feature in FEATURES.items():
            found[what, name] = p_value(feature(ids), labels)
    return found


def labelled() -> list[Any]:
    return [
        pytest.param(path, id=f"{benchmark}-{split}")
        for benchmark, split, path in hidden()
        if answers_of(json.loads(path.read_text().splitlines()[0]))
    ]


@pytest.mark.parametrize("path", labelled())
def test_hidden_splits_of_the_demonstration(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {key: p for key, p in told(rows).items() if p <= ALPHA} == {}


def test_there_are_such_splits() -> None:
    assert len(labelled()) >= 2


@pytest.mark.realdata
def test_published_symmetric_ids_are_found_to_tell(realdata: Path) -> None:
    path = realdata / "symmetric" / "source" / "fever_symmetric_full.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    telling = [{**row, "slices": {"origin": "generated" if len(str(row["id"])) > 7 else "original"}} for row in rows]
    assert told(telling)["the length of ids", "origin"] <= ALPHA


def test_lines_in_the_order_of_labels_are_found() -> None:
    rows = [{"id": f"x{place * 7919 % 1000:03}", "label": "T" if place < 60 else "F"} for place in range(120)]
    found = told(rows)
    assert found["the order of lines", "label"] <= ALPHA < found["the order of ids", "label"]
