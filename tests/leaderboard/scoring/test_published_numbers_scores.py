"""BUCKLE's scenario files and FRANK's ratings get the published numbers.

An independent brute force computed the numbers. The files stay outside the repository: `../shared/data`.
"""

import csv
import gzip
import io
import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from evaluator.jobs import JOBS
from evaluator.sandbox.contract import Execution, Limits, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from tests.support.scoring_runs import taken_by

DATA = Path(__file__).parents[4] / "shared" / "data"
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


def values(result, **slice_):
    return {row["measure"]: (row["value"], row["n"]) for row in result["scores"] if row["slice"] == slice_}


def jsonl(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def scenarios():
    path = DATA / "buckle" / "scores.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line["scenario"]: line["scores"] for line in map(json.loads, lines)}


def claims(scenario):
    """Returns the published rows as gold."""
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
    expected_values = json.loads((DATA / "buckle" / "expected_auroc.json").read_text())[scenario]
    lines = claims(scenario)
    assert len(expected_values["auroc"]) == 10
    assert sum(line["label"] for line in lines) == expected_values["positives"]
    for name, auroc in expected_values["auroc"].items():
        predictions = [{"id": i, "score": value} for i, value in enumerate(SCENARIOS[scenario][name])]
        result = score("fact-checking", jsonl(lines), jsonl(reversed(predictions)))
        for slice_ in ({}, {"scenario": scenario}, {"relation": lines[0]["relation"]}):
            value, n = values(result, **slice_)["auroc"]
            assert value == pytest.approx(auroc, abs=1e-9), name
            assert n == expected_values["n"]


def test_all_scenarios_as_one_benchmark():
    expected_values = json.loads((DATA / "buckle" / "expected_auroc.json").read_text())
    gold = [line | {"id": f"{scenario}:{line['id']}"} for scenario in SCENARIOS for line in claims(scenario)]
    for name in ("noisy_label", "ties_1dp"):
        scores = [
            {"id": f"{scenario}:{i}", "score": value}
            for scenario, vectors in SCENARIOS.items()
            for i, value in enumerate(vectors[name])
        ]
        result = score("fact-checking", jsonl(gold), jsonl(scores), cross="relation,scenario")
        for scenario, row in expected_values.items():
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
    expected_values = json.loads((DATA / "metric-correlation" / "expected.json").read_text())
    result = score("metric-correlation", gold, path.read_bytes(), name=path.name, cross="split,dataset")
    metric = path.name.split(".")[0]
    for subset, metrics in expected_values.items():
        slice_ = {
            dimension: value
            for dimension, value in zip(("split", "dataset"), subset.split("/"), strict=True)
            if value != "all"
        }
        scores = values(result, **slice_)
        row = metrics[metric]
        for published, name in NAMES.items():
            value, n = scores[name]
            assert value == pytest.approx(row[published], abs=1e-9), (subset, name)
            assert n == row["n"]


@pytest.mark.parametrize("task", ["fact-checking", "metric-correlation"])
def test_the_sandbox_returns_the_same_reports(sandbox, task, tmp_path):
    """Runs valid and invalid files of real size through every job, so that the child imports every module."""
    if task == "fact-checking":
        scenario = next(iter(SCENARIOS))
        gold = claims(scenario)
        # Enough claims for every sorting algorithm.
        gold = [line | {"id": f"{k}:{line['id']}"} for k in range(120) for line in gold]
        scores = [value + k for k in range(120) for value in SCENARIOS[scenario]["ties_1dp"]]
        predictions = [{"id": line["id"], "score": score} for line, score in zip(gold, scores, strict=True)]
    else:
        gold = [json.loads(line) for line in (DATA / task / "gold.jsonl").read_text().splitlines()]
        predictions = [
            json.loads(line)
            for line in gzip.decompress((METRICS / "bertscore_p_art.jsonl.gz").read_bytes()).splitlines()
        ]
    for name, lines in (("gold", gold), ("predictions", predictions), ("missing", predictions[1:])):
        (tmp_path / name).write_bytes(jsonl(lines))
    (tmp_path / "more").write_bytes(jsonl(line | {"label": True, "note": "x"} for line in predictions))
    (tmp_path / "wrong").write_bytes(jsonl(predictions[:5]) + b'{"id": "?", "score": 1e999}\n{"id": true}\n')
    client = ProcessSandbox(sandbox)

    def in_process_and_sandbox(job, resamples=60, **paths):
        """Returns the sandbox's report, after comparison with this process's report, and the attachment."""
        arguments = {"task": task, "options": {}, "resamples": resamples, "seed": 1}
        arguments |= {f"{kind}_name": f"{kind}.jsonl" for kind in ("gold", "predictions", "inputs")}
        arguments = taken_by(job, arguments)
        with ExitStack() as stack:
            files = {kind: stack.enter_context((tmp_path / path).open("rb")) for kind, path in paths.items()}
            open_files = {kind: file.fileno() for kind, file in files.items()}
            result = client.run(
                Execution(job=job, arguments=arguments, files=open_files, limits=Limits(wall_seconds=120))
            )
            report_in_process, attachment = JOBS[job](files, arguments)
        assert (result.verdict, result.attachment) == (Verdict.DONE, attachment)
        assert result.report == json.loads(json.dumps(report_in_process))
        return result

    (tmp_path / "inputs").write_bytes(in_process_and_sandbox("prepare_gold", gold="gold").attachment)
    assert in_process_and_sandbox("score", gold="gold", predictions="predictions").report["ok"]
    assert in_process_and_sandbox("validate", inputs="inputs", predictions="predictions").report["ok"]
    assert len(in_process_and_sandbox("validate", inputs="inputs", predictions="more").report["warnings"]) == 2
    for bad in ("missing", "wrong"):
        assert in_process_and_sandbox("validate", inputs="inputs", predictions=bad).report["fault"] == "predictions"
        assert in_process_and_sandbox("score", gold="gold", predictions=bad).report["fault"] == "predictions"


def test_every_published_file_exists():
    assert len(SCENARIOS) == len(list((DATA / "buckle" / "scenarios").glob("*/*.tsv"))) > 0
    assert len(list(METRICS.glob("*.gz"))) == 5
