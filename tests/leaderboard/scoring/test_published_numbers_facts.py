"""Ranked mentions and extracted facts get the published numbers, per question and per text.

An independent brute force computed the numbers. The files stay outside the repository: `../shared/data`.
"""

import json
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import from_bytes
from evaluator.sandbox.contract import Execution, Limits, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from tests.support.scoring_runs import taken_by

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="the published files are not in ../shared/data"),
]


def run(job, task, **options):
    """Runs the job on the task's published files; returns its report and attachment."""
    folder = DATA / task
    with (folder / "gold.jsonl").open("rb") as gold, (folder / "predictions.jsonl").open("rb") as predictions:
        report, attachment = JOBS[job](
            {"gold": gold, "predictions": predictions},
            taken_by(
                job,
                {
                    "task": task,
                    "options": options,
                    "resamples": 0,
                    "gold_name": "gold.jsonl",
                    "predictions_name": "predictions.jsonl",
                },
            ),
        )
    assert report["ok"], report
    return report, attachment


def expected(task, name):
    return json.loads((DATA / task / name).read_text())


def lines(task, name):
    return [json.loads(line) for line in (DATA / task / name).read_text().splitlines()]


def whole(report):
    return {row["measure"]: row["value"] for row in report["result"]["scores"] if not row["slice"]}


@pytest.mark.parametrize("setting", ["filtered", "raw"])
def test_link_prediction(setting):
    expected_values = expected("link-prediction", "expected_mention_ranking.json")
    report, attachment = run("score", "link-prediction", setting=setting)
    metrics = dict(expected_values["metrics"][setting])
    n, nowhere = metrics.pop("n"), metrics.pop("missing")
    assert whole(report) == pytest.approx(metrics, abs=1e-9)
    assert report["result"]["n_units"] == n == 1027
    reciprocal = from_bytes(attachment).statistics["reciprocal_rank"]
    assert sum(reciprocal == 0) == nowhere
    ranks = [round(1 / value) if value else None for value in reciprocal.tolist()]
    assert ranks == [row[setting] for row in expected_values["per_question"]]


def test_sides_are_as_declared_in_the_gold():
    report, attachment = run("score", "link-prediction")
    rows = {row["slice"]["side"]: row for row in report["result"]["scores"] if row["slice"] and row["measure"] == "mrr"}
    sides = [line["slices"]["side"] for line in lines("link-prediction", "gold.jsonl")]
    reciprocal = from_bytes(attachment).statistics["reciprocal_rank"].tolist()
    assert rows.keys() == {"head", "tail"}
    for side, row in rows.items():
        ranks_of_side = [value for value, other in zip(reciprocal, sides, strict=True) if other == side]
        assert (row["value"], row["n"]) == (
            pytest.approx(sum(ranks_of_side) / len(ranks_of_side), abs=1e-9),
            len(ranks_of_side),
        )


def test_the_order_of_inputs_does_not_reveal_answers():
    gold = lines("link-prediction", "gold.jsonl")
    _, inputs = run("prepare_gold", "link-prediction")
    order = [json.loads(line)["id"] for line in inputs.splitlines()]
    by_id = {line["id"]: line for line in gold}
    assert sorted(order) == sorted(by_id)

    def revealed_by_a_neighbour(ids):
        """Counts questions whose neighbour has the same relation and names their answer."""
        return sum(
            question["question"][1] == other["question"][1] and bool({*question["answers"]} & {*other["question"]})
            for question, other in pairwise(by_id[value] for value in ids)
        )

    assert revealed_by_a_neighbour([line["id"] for line in gold]) > 400
    assert revealed_by_a_neighbour(order) < 10


def test_fact_extraction():
    expected_values = expected("fact-extraction", "expected_fact_acc.json")["total"]
    report, attachment = run("score", "fact-extraction")
    values = whole(report)
    assert values["fact_acc"] == pytest.approx(expected_values["micro"], abs=1e-9)
    assert values["fact_acc_macro"] == pytest.approx(expected_values["macro_mean_over_defined"], abs=1e-9)
    assert values["fact_acc_macro_zero"] == pytest.approx(expected_values["macro_mean_undefined_as_0"], abs=1e-9)
    statistics = from_bytes(attachment).statistics
    assert sum(statistics["text"]) == expected_values["documents"] == 508
    assert sum(statistics["verifiable_text"]) == expected_values["documents_with_verifiable_claims"]


def test_each_text():
    expected_values = {row["id"]: row for row in expected("fact-extraction", "expected_fact_acc.json")["per_document"]}
    _, attachment = run("score", "fact-extraction")
    table = from_bytes(attachment)
    assert set(table.group_names) == expected_values.keys()
    for index, name in enumerate(table.group_names):
        rows = table.groups == index
        counts = {column: values[rows].sum() for column, values in table.statistics.items()}
        row = expected_values[name]
        assert (counts["gold"], counts["predicted"]) == (row["T"], row["G"])
        assert (counts["found"], counts["verifiable"]) == (row["intersection"], row["G_filtered"])
        accuracy = counts["text_accuracy"] if counts["verifiable_text"] else None
        assert accuracy == (None if row["fact_acc"] is None else pytest.approx(row["fact_acc"], abs=1e-9))


def test_relations_equal_a_count_over_sets():
    def facts(name):
        return {(line["id"], *fact) for line in lines("fact-extraction", name) for fact in line["facts"]}

    gold, predicted = facts("gold.jsonl"), facts("predictions.jsonl")
    report, _ = run("score", "fact-extraction")
    relations = {fact[2] for fact in gold}
    slices = {(row["slice"]["relation"], row["measure"]): row for row in report["result"]["scores"] if row["slice"]}
    assert {relation for relation, _ in slices} == relations
    for relation in relations:
        gold_facts, predicted_facts = ({fact for fact in side if fact[2] == relation} for side in (gold, predicted))
        judged = {fact for fact in predicted_facts if any(fact[:3] == other[:3] for other in gold_facts)}
        n_correct = len(gold_facts & predicted_facts)
        values = {
            "precision": n_correct / len(predicted_facts) if predicted_facts else 0.0,
            "recall": n_correct / len(gold_facts),
            "f1": 2 * n_correct / (len(gold_facts) + len(predicted_facts)),
            "fact_acc": n_correct / len(judged) if judged else None,
        }
        for measure, value in values.items():
            row = slices[relation, measure]
            assert row["value"] == (None if value is None else pytest.approx(value, abs=1e-9))
            assert row["n"] == len(gold_facts)


@pytest.mark.parametrize(
    ("task", "bad"),
    [
        ("link-prediction", b'{"id": "0", "ranking": ["a", 1]}\n'),
        ("fact-extraction", b'{"id": "3", "facts": [["a", "b"]]}\n'),
    ],
)
def test_the_sandbox_gives_the_same_answers(sandbox, tmp_path, task, bad):
    client = ProcessSandbox(sandbox)
    arguments = {"task": task, "options": {}, "resamples": 50, "seed": 1}
    arguments |= {f"{name}_name": f"{name}.jsonl" for name in ("gold", "predictions", "inputs")}

    def in_process_and_sandbox(job, **paths):
        """Returns the sandbox's report, after comparison with this process's report, and the attachment."""
        accepted_arguments = taken_by(job, arguments)
        with ExitStack() as stack:
            opened = {name: stack.enter_context(path.open("rb")) for name, path in paths.items()}
            files = {name: file.fileno() for name, file in opened.items()}
            result = client.run(
                Execution(job=job, arguments=accepted_arguments, files=files, limits=Limits(wall_seconds=60))
            )
            report_in_process, attachment = JOBS[job](opened, accepted_arguments)
        assert (result.verdict, result.attachment) == (Verdict.DONE, attachment)
        assert result.report == nearly(json.loads(json.dumps(report_in_process)))
        return result

    folder = DATA / task
    prepared = in_process_and_sandbox("prepare_gold", gold=folder / "gold.jsonl")
    (tmp_path / "inputs").write_bytes(prepared.attachment)
    (tmp_path / "bad").write_bytes(bad)
    good = {"predictions": folder / "predictions.jsonl"}
    assert in_process_and_sandbox("validate", inputs=tmp_path / "inputs", **good).report["ok"]
    assert in_process_and_sandbox("score", gold=folder / "gold.jsonl", **good).report["ok"]
    assert not in_process_and_sandbox("validate", inputs=tmp_path / "inputs", predictions=tmp_path / "bad").report["ok"]
    assert not in_process_and_sandbox("score", gold=folder / "gold.jsonl", predictions=tmp_path / "bad").report["ok"]


def nearly(report):
    """The sandbox's BLAS has one thread and may add in another order, so the last digit of a bound may differ."""
    for row in report.get("result", {}).get("scores", []):
        for bound in ("value", "low", "high"):
            row[bound] = None if row[bound] is None else pytest.approx(row[bound], abs=1e-12)
    return report
