"""Known problems of the published files are found."""

from __future__ import annotations

import pytest

from evaluator.curation.audit.reading import read_split
from evaluator.tasks.registry import find_task
from tests.evaluator.curation.audit.splits import audited, codes

pytestmark = pytest.mark.realdata


def read(task, path, **options):
    task_ = find_task(task)
    with path.open("rb") as stream:
        return read_split(task_, stream, str(path), task_.parse_options(options))


def severities(report):
    return {finding["code"]: finding["severity"] for finding in report["findings"]}


@pytest.mark.parametrize("relation", ["foundedBy", "nearestCity"])
def test_order_and_a_column_of_scenarios_reveal_labels(realdata, relation):
    folder = realdata / "buckle" / "scenarios" / relation
    report = audited(read("fact-checking", folder / "test_c1.0_h1.0_s300_r1.0_random_scenario.tsv"))
    leaks = {f["numbers"]["source"]: f for f in report["findings"] if f["code"].endswith("tells-label")}
    assert {"order", "column Origin_Relation"} <= set(leaks)
    for source in ("order", "column Origin_Relation"):
        assert leaks[source]["severity"] == "error"
        assert leaks[source]["numbers"]["share_told"] == 1
    assert not report["publishable"]


@pytest.mark.parametrize("flavour", ["random", "popular", "nopopular"])
def test_train_and_test_scenarios_share_pairs(realdata, flavour):
    folder, name = realdata / "buckle" / "scenarios" / "foundedBy", f"c1.0_h1.0_s300_r0.2_{flavour}_scenario.tsv"
    test, train = (read("fact-checking", folder / f"{part}_{name}") for part in ("test", "train"))
    rows = [
        {tuple(row.split("\t")[:2]) for row in (folder / f"{part}_{name}").read_text().splitlines()[1:]}
        for part in ("test", "train")
    ]
    report = audited(test, train_splits=[train])
    assert report["overlaps"][0]["pairs_in_training"] == len(rows[0] & rows[1]) > 0
    assert severities(report)["pairs-in-training"] == "error"


def test_symmetric_ids_reveal_the_member(realdata):
    report = audited(read("fact-verification", realdata / "symmetric" / "source" / "fever_symmetric_full.jsonl"))
    assert severities(report)["ids-tell-origin"] == "error"
    assert severities(report)["order-tells-origin"] == "error"
    (finding,) = [f for f in report["findings"] if f["code"] == "ids-tell-origin"]
    assert finding["numbers"]["share_told"] == 1
    assert "not-symmetric" not in codes(report)
    labels = {row["slice"]["origin"]: row["labels"] for row in report["balance"] if "origin" in row["slice"]}
    assert labels["generated"] == {"REFUTES": 338, "SUPPORTS": 379}
    assert "unbalanced-origin" in codes(report)


def test_generated_members_alone_are_not_a_symmetric_set(realdata):
    path = realdata / "symmetric" / "source" / "fever_symmetric_generated.jsonl"
    assert severities(audited(read("fact-verification", path)))["not-symmetric"] == "error"


def test_claims_of_fever_reveal_labels(realdata):
    report = audited(read("fact-verification", realdata / "fever" / "gold_paper_dev.jsonl"))
    scores = {row["system"]: row["scores"]["accuracy"] for row in report["trivial"]}
    assert scores["majority"] == pytest.approx(1 / 3, abs=1e-3)
    assert scores["claim-only"] > 0.45
    assert {"trivial-system", "one-sided-words", "duplicates-disagree"} <= codes(report)


def test_whole_passages_score_as_with_the_public_evaluator(realdata):
    path = realdata / "knowledgenet" / "gold_folds_1_to_4.jsonl"
    gold = read("knowledge-base-population", path, fold="4")
    from evaluator.curation.audit.report import AuditContext, audit

    report = audit(gold, AuditContext(), gold.task.parse_options({"fold": "4"}))
    (baseline,) = report["trivial"]
    assert baseline["scores"]["text_f1"] == pytest.approx(0.899, abs=5e-4)
    founded = next(size for size in report["sizes"] if size["slice"] == {"property": "FOUNDED_BY"})
    assert (founded["n"], round(founded["half_width"], 2)) == (38, 0.16)


def test_ids_of_rated_summaries_reveal_the_system(realdata):
    report = audited(read("metric-correlation", realdata / "metric-correlation" / "gold.jsonl"))
    (finding,) = [f for f in report["findings"] if f["code"] == "ids-tell-system"]
    assert finding["numbers"]["share_told"] == 1
