"""BUCKLE's scenario files and FRANK's ratings: the numbers that came with the files.

The numbers were made by an independent brute force. The files stay outside the repository: `../shared/data`.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from evaluator.operations import JOBS

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="the published files are not in ../shared/data"),
]


def score(task, gold, predictions, *, name="predictions.jsonl", **options):
    report, attachment = JOBS["score"](
        {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)},
        {
            "task": task,
            "options": options,
            "resamples": 0,
            "gold_name": "gold.jsonl",
            "predictions_name": name,
        },
    )
    assert report["ok"], report
    assert attachment
    return report["result"]


def values(result, **where):
    return {row["measure"]: (row["value"], row["n"]) for row in result["scores"] if row["slice"] == where}


def jsonl(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def scenarios():
    path = DATA / "buckle" / "scores.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line["scenario"]: line["scores"] for line in map(json.loads, lines)}


def claims(scenario):
    """The published rows as gold."""
    with (DATA / "buckle" / "scenarios" / scenario).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        {
            "id": i,
            "subject": row["Subject"],
            "relation": row["Relation"],
            "object": row["Object"],
            "label": row["Label"] == "1",
            "slices": {"scenario": scenario},
        }
        for i, row in enumerate(rows)
    ]


SCENARIOS = scenarios()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_buckle(scenario):
    wanted = json.loads((DATA / "buckle" / "expected_auroc.json").read_text())[scenario]
    lines = claims(scenario)
    assert len(wanted["auroc"]) == 10
    assert sum(line["label"] for line in lines) == wanted["positives"]
    for name, auroc in wanted["auroc"].items():
        predictions = [{"id": i, "score": value} for i, value in enumerate(SCENARIOS[scenario][name])]
        result = score("fact-checking", jsonl(lines), jsonl(reversed(predictions)))
        for where in ({}, {"scenario": scenario}, {"relation": lines[0]["relation"]}):
            value, n = values(result, **where)["auroc"]
            assert value == pytest.approx(auroc, abs=1e-9), name
            assert n == wanted["n"]


def test_all_scenarios_as_one_benchmark():
    wanted = json.loads((DATA / "buckle" / "expected_auroc.json").read_text())
    gold = [line | {"id": f"{scenario}:{line['id']}"} for scenario in SCENARIOS for line in claims(scenario)]
    for name in ("noisy_label", "ties_1dp"):
        scores = [
            {"id": f"{scenario}:{i}", "score": value}
            for scenario, vectors in SCENARIOS.items()
            for i, value in enumerate(vectors[name])
        ]
        result = score("fact-checking", jsonl(gold), jsonl(scores), cross="relation,scenario")
        for scenario, row in wanted.items():
            assert values(result, scenario=scenario)["auroc"][0] == pytest.approx(row["auroc"][name], abs=1e-9)
            crossed = values(result, relation=scenario.split("/")[0], scenario=scenario)
            assert crossed["auroc"][0] == pytest.approx(row["auroc"][name], abs=1e-9)


NAMES = {
    "spearman": "spearman",
    "pearson": "pearson",
    "kendall_tau_b": "kendall",
    "partial_spearman_by_system": "partial_spearman",
    "partial_pearson_by_system": "partial_pearson",
}
METRICS = DATA / "metric-correlation" / "predictions"


@pytest.mark.parametrize("path", sorted(METRICS.glob("*.gz")), ids=lambda path: path.name.split(".")[0])
def test_metric_correlation(path):
    gold = (DATA / "metric-correlation" / "gold.jsonl").read_bytes()
    wanted = json.loads((DATA / "metric-correlation" / "expected.json").read_text())
    result = score("metric-correlation", gold, path.read_bytes(), name=path.name, cross="split,dataset")
    metric = path.name.split(".")[0]
    for subset, metrics in wanted.items():
        where = {
            dimension: value
            for dimension, value in zip(("split", "dataset"), subset.split("/"), strict=True)
            if value != "all"
        }
        ours = values(result, **where)
        row = metrics[metric]
        for theirs, name in NAMES.items():
            value, n = ours[name]
            assert value == pytest.approx(row[theirs], abs=1e-9), (subset, name)
            assert n == row["n"]


def test_every_published_file_was_there():
    assert len(SCENARIOS) == len(list((DATA / "buckle" / "scenarios").glob("*/*.tsv"))) > 0
    assert len(list(METRICS.glob("*.gz"))) == 5
