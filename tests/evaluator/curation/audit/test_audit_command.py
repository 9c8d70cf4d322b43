"""The command `audit split`: exit status, JSON report, files, invalid input."""

from __future__ import annotations

import json

import pytest

from evaluator.cli.main import main
from tests.conftest import ROOT
from tests.evaluator.curation.audit.splits import claims, facts

KEYS = {
    "agreement",
    "audit",
    "balance",
    "counts",
    "cues",
    "duplicates",
    "file",
    "findings",
    "groups",
    "label_leaks",
    "lines",
    "not_looked_at",
    "overlaps",
    "primary",
    "publishable",
    "published_layout",
    "sizes",
    "task",
    "task_version",
    "trivial",
    "units",
}


@pytest.fixture
def write(tmp_path):
    def write(name, lines):
        path = tmp_path / name
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
        return str(path)

    return write


def run(capsys, *arguments):
    status = main(["audit", "split", *arguments, "--json"])
    out, err = capsys.readouterr()
    return status, json.loads(out) if out else None, err


@pytest.mark.parametrize(
    "name", ["atlas-facts", "graph-claims", "life-facts", "mirror-claims", "open-facts", "sourced-claims"]
)
def test_every_fixture_can_be_audited_and_may_be_published(capsys, name):
    folder = ROOT / "fixtures" / name
    task = json.loads((folder / "benchmark.json").read_text())["task"]
    status, report, _ = run(capsys, task, "--gold", str(folder / "splits" / "test.jsonl"))
    assert (status, report["publishable"], report["counts"]["errors"]) == (0, True, 0)
    assert set(report) == KEYS
    assert report["audit"] == 1
    assert all(
        set(finding) == {"severity", "code", "where", "found", "means", "do", "numbers"}
        for finding in report["findings"]
    )


def test_errors_end_with_status_1_and_a_complete_report(capsys, write):
    gold = write("gold.jsonl", facts(60))
    inputs = write("inputs.jsonl", sorted(facts(60), key=lambda line: line["label"]))
    status, report, _ = run(capsys, "fact-checking", "--gold", gold, "--inputs", inputs)
    assert status == 1
    findings = {(finding["severity"], finding["code"], finding["where"]["file"]) for finding in report["findings"]}
    assert ("error", "inputs-hold-gold", "inputs.jsonl") in findings
    assert ("error", "order-tells-label", "gold.jsonl") in findings
    severities = [finding["severity"] for finding in report["findings"]]
    assert severities == sorted(severities)
    assert main(["audit", "split", "fact-checking", "--gold", gold, "--inputs", inputs]) == 1
    text = capsys.readouterr().out
    assert "interval for an auroc of" in text or "interval for an accuracy of" in text
    assert "ERROR inputs.jsonl:1 [inputs-hold-gold]" in text


def test_the_folder_has_the_report_and_no_local_paths(capsys, write, tmp_path):
    gold, train = write("gold.jsonl", claims(60)), write("train.jsonl", [*claims(30, 2), claims(60)[0] | {"id": "x"}])
    folder = tmp_path / "audit"
    arguments = ["fact-verification", "--gold", gold, "--train", train, "--output", str(folder)]
    status, report, _ = run(capsys, *arguments)
    assert status == 1
    assert json.loads((folder / "audit.json").read_text()) == report
    assert "leakage-simple" in (folder / "audit.txt").read_text()
    assert all(str(tmp_path) not in path.read_text() for path in folder.iterdir())
    assert run(capsys, *arguments[:-2], "--output", str(tmp_path / "again"))[1] == report
    assert (tmp_path / "again" / "audit.json").read_bytes() == (folder / "audit.json").read_bytes()


HEADER = "Subject\tObject\tRelation\tLabel\tOrigin_Relation\tCluster\n"


def test_the_published_layout_of_scenarios(capsys, write):
    rows = [
        f"s{n:02}\to{n:02}\tr\t{1 if n < 20 else -1}\t{'No' if n < 20 else f'p{n % 4}'}\t{n % 5}\n" for n in range(40)
    ]
    status, report, _ = run(capsys, "fact-checking", "--gold", write("a.tsv", [HEADER, *rows]))
    assert status == 1
    assert report["published_layout"]
    sources = {
        finding["code"]: finding["numbers"]["source"] for finding in report["findings"] if "tells" in finding["code"]
    }
    assert sources == {"order-tells-label": "order", "column-tells-label": "column Origin_Relation"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["Subject\tLabel\n"], "a.tsv:1: unexpected header"),
        ([HEADER, "s\to\tr\t1\n"], "a.tsv:2: wrong number of columns, found 4 columns, expected 6 columns"),
        ([HEADER, "s\to\tr\tmaybe\tNo\t1\n"], "a.tsv:2: Label is not valid, found another text, expected 1 or -1"),
        ([HEADER], "a.tsv: the file has no claim"),
    ],
)
def test_an_invalid_published_file_is_reported(capsys, write, rows, message):
    status, _, err = run(capsys, "fact-checking", "--gold", write("a.tsv", rows))
    assert status == 3
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["fact", "--gold", "gold.jsonl"], 64, "unknown task"),
        (["fact-checking", "--gold", "none.jsonl"], 64, "cannot read"),
        (["fact-checking", "--gold", "gold.jsonl", "--option", "x"], 64, "expected NAME=VALUE"),
        (["fact-checking", "--gold", "gold.jsonl", "--option", "x=1"], 64, "unknown option"),
        (["fact-verification", "--gold", "gold.jsonl", "--near-duplicate-similarity", "0"], 64, "threshold is 0"),
        (["fact-checking", "--gold", "gold.jsonl", "--annotations", "bad.jsonl"], 3, "annotator is not valid"),
        (["fact-checking", "--gold", "gold.jsonl", "--inputs", "bad.jsonl"], 3, "id is not valid"),
        (["fact-checking", "--gold", "empty.jsonl"], 3, "the file is empty"),
    ],
)
def test_invalid_arguments_and_files_are_reported(capsys, write, monkeypatch, tmp_path, arguments, status, message):
    write("gold.jsonl", claims(12) if arguments[0] == "fact-verification" else facts(12))
    write("bad.jsonl", [{"id": None}])
    write("empty.jsonl", [])
    monkeypatch.chdir(tmp_path)
    returned, _, err = run(capsys, *arguments)
    assert returned == status
    assert message in err


def test_the_report_includes_agreement(capsys, write):
    lines = facts(12)
    judged = [
        {"id": line["id"], "annotator": who, "label": line["label"] if who == "a" or n % 3 else not line["label"]}
        for n, line in enumerate(lines)
        for who in ("a", "b", "c")
    ]
    arguments = ["fact-checking", "--gold", write("gold.jsonl", lines), "--annotations"]
    _, report, _ = run(capsys, *arguments, write("judged.jsonl", judged))
    agreement = report["agreement"]
    assert (agreement["items"], agreement["annotators"], agreement["gold_against_majority"]) == (12, 3, 4)
    assert agreement["percent"] == pytest.approx((8 * 3 + 4) / 36, abs=1e-5)
    assert {pair["n"] for pair in agreement["pairs"]} == {12}
    found_codes = {finding["code"] for finding in report["findings"]}
    assert {"low-agreement", "gold-against-majority"} <= found_codes
    with_unknown_item = [*judged, {"id": "nobody", "annotator": "a", "label": True}]
    status, report, _ = run(capsys, *arguments, write("more.jsonl", with_unknown_item))
    assert status == 1
    assert "judgements-without-gold" in {finding["code"] for finding in report["findings"]}
    twice = [*judged, judged[0]]
    status, _, err = run(capsys, *arguments, write("twice.jsonl", twice))
    assert status == 3
    assert "an annotator judges an item twice" in err


MINIMAL = {
    "fact-verification": [{"id": 1, "claim": "?", "label": "SUPPORTS"}],
    "fact-checking": [{"id": "a", "subject": "", "relation": "", "object": "", "label": True}],
    "link-prediction": [{"id": "a", "question": ["x", "r", "?"], "answers": [""], "filtered": []}],
    "knowledge-base-population": [{"documentId": 1, "documentText": "", "passages": []}],
    "fact-extraction": [{"id": 1, "facts": []}],
    "metric-correlation": [{"id": 1, "human": 1e308}, {"id": 2, "human": -1e308}],
}


@pytest.mark.parametrize("task", MINIMAL)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_minimal_gold_can_be_audited(capsys, write, task):
    gold = write("gold.jsonl", MINIMAL[task])
    status, report, err = run(capsys, task, "--gold", gold, "--train", gold)
    assert status in (0, 1), err
    assert report["lines"] == len(MINIMAL[task])
