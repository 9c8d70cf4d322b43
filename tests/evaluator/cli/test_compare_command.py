"""`holdout-eval compare`: its JSON object, its table, and the invalid file named in errors."""

import gzip
import io
import json
from pathlib import Path

import pytest

from evaluator.cli.main import main
from evaluator.errors import SandboxError
from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import from_bytes, to_bytes
from evaluator.tasks.registry import TASKS
from tests.evaluator.tasks.knowledge_base_population.test_kbp_rules import answer, document, fact, passage
from tests.support.scoring_runs import jsonl

GOLD = [{"id": i, "claim": "c", "label": "SUPPORTS", "slices": {"kind": i % 2 == 0}} for i in range(8)]
COMPARE = ["compare", "fact-verification", "--gold", "gold.jsonl"]


def answers(n_right):
    return [{"id": i, "predicted_label": "SUPPORTS" if i < n_right else "REFUTES"} for i in range(8)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, lines in (("gold", GOLD), ("mine", answers(7)), ("theirs", answers(2))):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(lines))
    (tmp_path / "theirs.jsonl.gz").write_bytes(gzip.compress(jsonl(answers(2))))
    (tmp_path / "maybe.jsonl").write_bytes(jsonl(answers(2)).replace(b"REFUTES", b"MAYBE", 1))
    (tmp_path / "short.jsonl").write_bytes(jsonl(answers(2)[:-1]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments):
    status = main(arguments)
    return status, *capsys.readouterr()


def test_json_is_one_object(folder, capsys):
    status, out, err = run(capsys, *COMPARE, "mine.jsonl", "theirs.jsonl", "--json", "--option", "cross=label,kind")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result.keys() == {"task", "task_version", "n_units", "n_groups", "comparisons", "warnings"}
    first = result["comparisons"][0]
    assert list(first) == [
        *("measure", "slice", "a", "b", "difference", "low", "high"),
        *("p", "p_mcnemar", "n", "n_groups"),
    ]
    assert (first["measure"], first["slice"], first["n"], first["n_groups"]) == ("accuracy", {}, 8, 8)
    assert (first["a"], first["b"], first["difference"]) == (7 / 8, 2 / 8, 5 / 8)
    assert first["p_mcnemar"] == 2 * 0.5**5
    assert first["low"] <= 5 / 8 <= first["high"]
    assert {"label": "SUPPORTS", "kind": True} in [row["slice"] for row in result["comparisons"]]
    assert run(capsys, *COMPARE, "mine.jsonl", "theirs.jsonl.gz", "--json", "--option", "cross=label,kind")[1] == out


def test_seed_and_resamples(folder, capsys):
    def rows(*more):
        return json.loads(run(capsys, *COMPARE, "mine.jsonl", "theirs.jsonl", "--json", *more)[1])["comparisons"]

    assert rows() == rows("--resamples", "1000", "--seed", "0")
    assert rows("--seed", "1") != rows()
    assert {(row["low"], row["high"], row["p"]) for row in rows("--resamples", "0")} == {(None, None, None)}


def test_a_table_is_printed_by_default(folder, capsys):
    status, out, _ = run(capsys, *COMPARE, "mine.jsonl", "theirs.jsonl")
    assert status == 0
    heading, first = out.splitlines()[1:3]
    assert " ".join(heading.split()) == "measure slice a b a - b 95% interval p McNemar n groups"
    assert first.split()[:5] == ["accuracy", "all", "0.8750", "0.2500", "0.6250"]


def test_each_invalid_file_is_named_and_both_are_read(folder, capsys):
    maybe = 'unknown predicted_label, found "MAYBE", expected SUPPORTS, REFUTES or NOT ENOUGH INFO'
    assert run(capsys, *COMPARE, "maybe.jsonl", "theirs.jsonl")[::2] == (2, f"maybe.jsonl:3: {maybe}\n")
    assert run(capsys, *COMPARE, "mine.jsonl", "maybe.jsonl")[::2] == (2, f"maybe.jsonl:3: {maybe}\n")
    status, out, err = run(capsys, *COMPARE, "short.jsonl", "maybe.jsonl")
    assert (status, out) == (2, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["short.jsonl", "maybe.jsonl"]
    report = json.loads(run(capsys, *COMPARE, "short.jsonl", "maybe.jsonl", "--json")[1])
    assert (report["fault"], [problem["file"] for problem in report["problems"]]) == (
        "predictions",
        ["short.jsonl", "maybe.jsonl"],
    )


def test_bad_gold_exits_3(folder, capsys):
    Path("gold.jsonl").write_bytes(b"{}")
    assert run(capsys, *COMPARE, "mine.jsonl", "maybe.jsonl")[::2] == (
        3,
        "gold.jsonl:1: id is missing, found no such key, expected id\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "fact-verification", "mine.jsonl", "theirs.jsonl"],
        [*COMPARE, "mine.jsonl"],
        [*COMPARE, "mine.jsonl", "nowhere.jsonl"],
        [*COMPARE, "mine.jsonl", "theirs.jsonl", "gold.jsonl"],
        [*COMPARE, "mine.jsonl", "theirs.jsonl", "--resamples", "100001"],
        [*COMPARE, "mine.jsonl", "theirs.jsonl", "--option", "cross=label,nowhere"],
        ["compare", "no-such-task", "--gold", "gold.jsonl", "mine.jsonl", "theirs.jsonl"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_64(folder, capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (64, "")
    assert err.startswith("holdout-eval: ")


def test_a_warning_names_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_bytes(jsonl([document("d", passage("p", [fact(subject=(0, 2), target=(3, 5))]))]))
    Path("fair.jsonl").write_bytes(jsonl([answer("d", "p", fact(subject=(0, 2), target=(3, 5)))]))
    Path("wide.jsonl").write_bytes(jsonl([answer("d", "p", fact(subject=(0, 20), target=(0, 20)))]))
    status, _, err = run(
        capsys, "compare", "knowledge-base-population", "--gold", "gold.jsonl", "fair.jsonl", "wide.jsonl"
    )
    assert status == 0
    assert [line for line in err.splitlines() if "fair" in line] == []
    assert any(line.startswith("warning: wide.jsonl: ") for line in err.splitlines())


def stored(n_right, gold=GOLD):
    files = {"gold": io.BytesIO(jsonl(gold)), "predictions": io.BytesIO(jsonl(answers(n_right)))}
    _, table = JOBS["score"](
        files, {"task": "fact-verification", "resamples": 0, "gold_name": "g", "predictions_name": "p"}
    )
    return table


def compare_stored(a, b, **arguments):
    return JOBS["compare_outcomes"]({"a": io.BytesIO(a), "b": io.BytesIO(b)}, arguments)[0]


def test_stored_outcomes_are_compared_on_any_slices(folder, capsys):
    _, out, _ = run(capsys, *COMPARE, "mine.jsonl", "theirs.jsonl", "--json", "--option", "cross=label,kind")
    report = compare_stored(stored(7), stored(2), options={"cross": "label,kind"})
    assert report["result"] == json.loads(out)


def test_stored_outcomes_of_different_gold_are_refused(monkeypatch):
    renamed = [{**line, "group": f"g{line['id']}"} for line in GOLD]
    report = compare_stored(stored(7), stored(2, renamed))
    assert report["fault"] == "usage"
    assert report["problems"][0]["text"] == (
        "the groups of outcomes a and b differ, expected outcomes of the same gold and options"
    )
    relabelled = [{**line, "slices": {"kind": line["id"] < 4}} for line in GOLD[:6]]
    assert compare_stored(stored(7), stored(2, relabelled + GOLD[6:]))["fault"] == "usage"
    old = stored(7)
    monkeypatch.setattr(type(TASKS["fact-verification"]), "version", 2)
    assert compare_stored(old, old)["problems"][0]["text"] == (
        "file a has outcomes of fact-verification version 1, expected version 2"
    )


def test_damaged_outcomes_are_a_sandbox_error():
    whole = stored(7)
    with pytest.raises(SandboxError):
        compare_stored(whole[:-5], whole)
    with pytest.raises(SandboxError):
        compare_stored(whole, b"")
    assert to_bytes(from_bytes(whole)) == whole
