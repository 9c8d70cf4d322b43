"""What is drawn of a run: on which slices, for which tasks, and pairs counted against plain loops."""

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


def triple(place: int, label: bool, **slices: Any) -> dict[str, Any]:
    return {"id": place, "subject": "s", "relation": "r", "object": "o", "label": label, "slices": slices}


def test_curves_of_the_whole_and_of_slices_with_enough_claims() -> None:
    gold = [triple(i, i % 2 == 0, kind="many" if i < 60 else "few") for i in range(66)]
    scores = [{"id": i, "score": (i * 37) % 11} for i in range(66)]
    drawing, attachment = scored("fact-checking", gold, scores)
    assert [curve["slice"] for curve in drawing["curves"]] == [{}, {"relation": "r"}, {"kind": "many"}]
    part = [((i * 37) % 11, i % 2 == 0) for i in range(60)]
    curve = roc(np.array([score for score, _ in part], dtype=float), np.array([label for _, label in part]))
    assert drawing["curves"][2]["heights"] == list(on_lattice(curve, 7))
    assert [*drawing] == ["curves"]
    again, _ = JOBS["draw"]({"table": io.BytesIO(attachment)}, {})
    assert again == {"ok": True, "plot_data": drawing}


def test_no_more_slices_than_are_read() -> None:
    gold = [triple(i, i % 2 == 0, kind=i % 60) for i in range(60 * 20)]
    drawing, _ = scored("fact-checking", gold, [{"id": i, "score": i % 7} for i in range(60 * 20)])
    assert len(drawing["curves"]) <= 1 + MOST_SLICES


def test_one_grid_a_slice_although_two_measures_are_spearmans() -> None:
    gold = [{"id": i, "human": i % 5, "system": "a", "slices": {"subset": i % 2}} for i in range(40)]
    drawing, _ = scored("metric-correlation", gold, [{"id": i, "score": i} for i in range(40)])
    assert [grid["slice"] for grid in drawing["grids"]] == [{}, {"subset": 0}, {"subset": 1}]
    assert [*drawing] == ["grids"]


def test_a_task_without_pictures_has_an_empty_drawing() -> None:
    drawing, _ = scored("fact-extraction", [{"id": 1, "facts": [["a", "r", "b"]]}], [{"id": 1, "facts": []}])
    assert drawing == {}


MEMBERS = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(MEMBERS)
def test_pairs_are_every_original_with_every_generated_member_of_its_group(
    members: list[tuple[int, bool, bool]],
) -> None:
    """members: group, whether original, whether answered right."""
    gold = [
        {
            "id": place,
            "claim": f"c{place}",
            "label": "SUPPORTS",
            "group": group,
            "slices": {"origin": "original" if is_original else "generated"},
        }
        for place, (group, is_original, _) in enumerate(members)
    ]
    answers = [
        {"id": place, "predicted_label": "SUPPORTS" if right else "REFUTES"}
        for place, (_, _, right) in enumerate(members)
    ]
    drawing, _ = scored("fact-verification", gold, answers)
    counted = {"both": 0, "drop": 0, "flip": 0, "neither": 0}
    names = {(True, True): "both", (True, False): "drop", (False, True): "flip", (False, False): "neither"}
    for group, is_original, right in members:
        for other, also_original, also in members:
            if is_original and not also_original and group == other:
                counted[names[right, also]] += 1
    assert drawing["pairs"] == counted


@pytest.mark.parametrize("declared", [True, False])
def test_pairs_exist_where_gold_declares_origins(declared: bool) -> None:
    slices = {"slices": {"origin": "original"}} if declared else {}
    gold = [{"id": 1, "claim": "c", "label": "SUPPORTS", **slices}]
    drawing, _ = scored("fact-verification", gold, [{"id": 1, "predicted_label": "SUPPORTS"}])
    assert ("pairs" in drawing) is declared
