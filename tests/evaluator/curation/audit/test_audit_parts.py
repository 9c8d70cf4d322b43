"""An audit run part by part, as on a server, gives the same report as a complete run."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from evaluator.curation.audit.report import assembled
from evaluator.jobs import JOBS
from evaluator.jobs.audit import NAMES

CLAIM = {"claim": "the sun is a star", "evidence_text": "stars shine", "group": "g", "slices": {}}


def job(part: str, gold: bytes, **more: Any) -> dict[str, Any]:
    files = {"gold": io.BytesIO(gold)} | {name: io.BytesIO(body) for name, body in more.pop("files", {}).items()}
    arguments = {"task": "fact-verification", "gold_name": "gold.jsonl", "inputs_name": "inputs.jsonl", **more}
    return JOBS["audit_part"](files, arguments | {"part": part})[0]


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(CLAIM | row).encode() + b"\n" for row in rows)


CONTRADICTION = lines({"id": "a", "label": "SUPPORTS"}, {"id": "b", "label": "REFUTES", "group": "h"})


def test_findings_are_sorted_by_severity_across_parts() -> None:
    parts = [job(name, CONTRADICTION)["part"] for name in NAMES]
    report = assembled(parts)
    severities = [finding["severity"] for finding in report["findings"]]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert report["findings"][0]["code"] == "duplicates-disagree"
    assert report["counts"]["errors"] == severities.count("error") > 0
    assert report["publishable"] is False
    # "few-groups" comes from an earlier part than the contradiction.
    assert [finding["code"] for finding in parts[NAMES.index("sizes")]["findings"]] == ["few-groups"]


def test_overlaps_name_the_training_file() -> None:
    part = job("overlaps", CONTRADICTION, files={"0": CONTRADICTION}, train_names=["train.gold.jsonl"])["part"]
    (overlap,) = part["keys"]["overlaps"]
    assert (overlap["train"], overlap["simple"]) == ("train.gold.jsonl", 2)
    expected = ["leakage-simple", "ids-in-training", "groups-in-training", "evidence-in-training"]
    assert [finding["code"] for finding in part["findings"]] == expected


def test_inputs_that_hold_the_label_are_found() -> None:
    public = b'{"id": "a", "claim": "x", "label": "SUPPORTS"}\n'
    codes = {finding["code"] for finding in job("tells", CONTRADICTION, files={"inputs": public})["part"]["findings"]}
    assert {"inputs-hold-gold", "gold-without-inputs"} <= codes


@pytest.mark.parametrize(
    ("gold", "part", "fault"), [(b"{}\n", "sizes", "gold"), (CONTRADICTION, "everything", "usage")]
)
def test_invalid_gold_and_wrong_usage_give_reports(gold: bytes, part: str, fault: str) -> None:
    report = job(part, gold)
    assert (report["ok"], report["fault"]) == (False, fault)
    assert report["problems"]
