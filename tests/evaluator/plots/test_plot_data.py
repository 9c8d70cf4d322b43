"""Plot data of a run: for which slices and tasks it exists, and pair counts against plain loops."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.jobs import JOBS
from evaluator.plots.roc import on_lattice, roc
from evaluator.plots.summary import MOST_SLICES


def scored(task: str, gold: list[dict[str, Any]], predictions: list[dict[str, Any]]) -> tuple[dict[str, Any], bytes]:
    files = {
        name: io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        for name, lines in (("gold", gold), ("predictions", predictions))
    }
    arguments = {"task": task, "gold_name": "gold.jsonl", "predictions_name": "p.jsonl", "resamples": 0}
    report, attachment = JOBS["score"](files, arguments)
    assert report["ok"], report
    return report["plot_data"], attachment


def triple(name: int, label: bool, **slices: Any) -> dict[str, Any]:
    return {"id": name, "subject": "s", "relation": "r", "object": "o", "label": label, "slices": slices}


def test_curves_exist_for_the_whole_and_for_slices_with_enough_claims() -> None:
    gold = [triple(i, i % 2 == 0, kind="many" if i < 60 else "few") for i in range(66)]
    scores = [{"id": i, "score": (i * 37) % 11} for i in range(66)]
    drawing, attachment = scored("fact-checking", gold, scores)
    assert [curve["slice"] for curve in drawing["curves"]] == [{}, {"relation": "r"}, {"kind": "many"}]
    rows = [((i * 37) % 11, i % 2 == 0) for i in range(60)]
    curve = roc(np.array([score for score, _ in rows], dtype=float), np.array([label for _, label in rows]))
    assert drawing["curves"][2]["heights"] == list(on_lattice(curve, 7))
    assert [*drawing] == ["curves"]
    again, _ = JOBS["plot_data"]({"table": io.BytesIO(attachment)}, {})
    assert again == {"ok": True, "plot_data": drawing}


def test_the_number_of_slices_is_limited() -> None:
    gold = [triple(i, i % 2 == 0, kind=i % 60) for i in range(60 * 20)]
    drawing, _ = scored("fact-checking", gold, [{"id": i, "score": i % 7} for i in range(60 * 20)])
    assert len(drawing["curves"]) <= 1 + MOST_SLICES


def test_two_spearman_measures_share_one_grid_per_slice() -> None:
    gold = [{"id": i, "human": i % 5, "system": "a", "slices": {"subset": i % 2}} for i in range(40)]
    drawing, _ = scored("metric-correlation", gold, [{"id": i, "score": i} for i in range(40)])
    assert [grid["slice"] for grid in drawing["grids"]] == [{}, {"subset": 0}, {"subset": 1}]
    assert [*drawing] == ["grids"]


def test_a_task_without_plots_has_empty_plot_data() -> None:
    drawing, _ = scored("fact-extraction", [{"id": 1, "facts": [["a", "r", "b"]]}], [{"id": 1, "facts": []}])
    assert drawing == {}


MEMBERS = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(MEMBERS)
def test_pairs_join_each_original_with_each_generated_member_of_its_group(
    members: list[tuple[int, bool, bool]],
) -> None:
    """members: (group, whether original, whether answered correctly)."""
    gold = [
        {
            "id": i,
            "claim": f"c{i}",
            "label": "SUPPORTS",
            "group": group,
            "slices": {"origin": "original" if is_original else "generated"},
        }
        for i, (group, is_original, _) in enumerate(members)
    ]
    answers = [
        {"id": i, "predicted_label": "SUPPORTS" if right else "REFUTES"} for i, (_, _, right) in enumerate(members)
    ]
    drawing, _ = scored("fact-verification", gold, answers)
    expected = {"both": 0, "drop": 0, "flip": 0, "neither": 0}
    names = {(True, True): "both", (True, False): "drop", (False, True): "flip", (False, False): "neither"}
    for group, is_original, right in members:
        for other, also_original, also in members:
            if is_original and not also_original and group == other:
                expected[names[right, also]] += 1
    assert drawing["pairs"] == expected


@pytest.mark.parametrize("declared", [True, False])
def test_pairs_exist_where_gold_declares_origins(declared: bool) -> None:
    slices = {"slices": {"origin": "original"}} if declared else {}
    gold = [{"id": 1, "claim": "c", "label": "SUPPORTS", **slices}]
    drawing, _ = scored("fact-verification", gold, [{"id": 1, "predicted_label": "SUPPORTS"}])
    assert ("pairs" in drawing) is declared
