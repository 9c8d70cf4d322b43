"""`split` and `audit`: recipes, equal bytes for equal seeds, and no files left after failed or interrupted work."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evaluator.cli import curation
from evaluator.cli.main import main
from evaluator.curation.generators.base import Generator
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import GoldError, Problem, UsageError
from evaluator.jsonl.tables import write_table
from tests.support.scoring_runs import jsonl

ROOT = Path(__file__).parents[4]
SALT = "a salt that nobody knows"
CLAIMS = [
    {
        "id": k,
        "claim": f"it did not {'rain' if k % 3 else 'snow'} in {k % 7}",
        "label": "REFUTES" if k % 4 else "SUPPORTS",
    }
    for k in range(40)
]
GOLD = [{"id": f"g{k}", "documentId": f"d{k // 3}", "group": k // 2, "label": "AB"[k % 2], "x": 1.0} for k in range(40)]
ORIGINALS = [
    {"id": k, "claim": f"{k} is red", "evidence_text": f"{k} is a rose", "label": "SUPPORTS"} for k in range(3)
]
CONTRARIES = [{"id": k, "claim": f"{k} is green", "evidence_text": f"{k} is a leaf"} for k in range(3)]
SPLITS = {
    "folds": ["folds", "gold.jsonl"],
    "holdout": ["holdout", "gold.jsonl", "--stratify", "label", "--seed", "5"],
    "public-private": ["public-private", "gold.jsonl", "--seed", "5", "--share", "0.25"],
    "symmetric": ["symmetric", "originals.jsonl", "contraries.jsonl", "--salt", SALT],
    "reweight": ["reweight", "claims.jsonl", "--lambda", "0.5", "--min-frequency", "2", "--drop", ""],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files = {"gold": GOLD, "claims": CLAIMS, "originals": ORIGINALS, "contraries": CONTRARIES}
    for name, lines in files.items():
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("arguments", SPLITS.values(), ids=SPLITS)
def test_the_recipe_lists_inputs_outputs_and_the_report(folder, capsys, arguments):
    assert main(["split", *arguments, "--output", "made", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    recipe = json.loads((folder / "made/recipe.json").read_text())
    assert recipe["generator"] == arguments[0]
    assert recipe["report"] == report
    assert [file["name"] for file in recipe["inputs"]] == [word for word in arguments if word.endswith(".jsonl")]
    assert sorted(file["name"] for file in recipe["outputs"]) == [
        n for n in names(folder / "made") if n != "recipe.json"
    ]
    for base, files in ((folder, recipe["inputs"]), (folder / "made", recipe["outputs"])):
        for file in files:
            content = (base / file["name"]).read_bytes()
            assert (file["sha256"], file["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))
    text = (folder / "made/recipe.json").read_text()
    assert str(folder) not in text and SALT not in text and os.sep not in text.replace("->", "")


@pytest.mark.parametrize("arguments", SPLITS.values(), ids=SPLITS)
def test_the_same_recipe_gives_the_same_bytes(folder, arguments):
    for output in ("one", "two"):
        assert main(["split", *arguments, "--output", output]) == 0
    assert names(folder / "one") == names(folder / "two")
    for name in names(folder / "one"):
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()


def test_folds_distribute_documents_and_do_not_change_lines(folder):
    assert main(["split", "folds", "gold.jsonl", "--output", "made"]) == 0
    fold = {line["documentId"]: line["fold"] for line in lines_of(folder / "made/folds.jsonl")}
    assert fold == {f"d{k}": k % 5 + 1 for k in range(14)}
    source = (folder / "gold.jsonl").read_bytes().splitlines()
    lines_by_part = {
        part: (folder / f"made/{part}.jsonl").read_bytes().splitlines() for part in ("train", "dev", "test")
    }
    assert Counter(line for lines in lines_by_part.values() for line in lines) == Counter(source)
    assert {json.loads(line)["documentId"] for line in lines_by_part["dev"]} == {"d3", "d8", "d13"}
    assert {json.loads(line)["documentId"] for line in lines_by_part["test"]} == {"d4", "d9"}


def test_folds_can_be_written_into_the_lines(folder):
    arguments = ["split", "folds", "gold.jsonl", "--folds", "3", "--mark", "fold", "--output", "made"]
    assert main(arguments) == 0
    for number in (1, 2, 3):
        lines = lines_of(folder / f"made/fold-{number}.jsonl")
        assert lines and all(line["fold"] == number == int(line["documentId"][1:]) % 3 + 1 for line in lines)
    assert all(line.endswith('"x": 1.0}') for line in (folder / "made/fold-1.jsonl").read_text().splitlines())


def test_an_existing_key_is_not_overwritten(folder, capsys):
    assert main(["split", "folds", "gold.jsonl", "--mark", "label", "--output", "made"]) == 3
    assert capsys.readouterr().err.startswith(
        "gold.jsonl:1: the line already has the key label, expected a key that no line has"
    )


def test_a_holdout_keeps_groups_whole(folder):
    assert main(["split", "holdout", "gold.jsonl", "--stratify", "label", "--output", "made"]) == 0
    train, test = (lines_of(folder / f"made/{part}.jsonl") for part in ("train", "test"))
    assert (len(train), len(test)) == (32, 8)
    assert not {line["group"] for line in train} & {line["group"] for line in test}
    assert Counter(line["label"] for line in test) == {"A": 4, "B": 4}


@pytest.mark.parametrize("name", ["public-private", "holdout"])
def test_ids_of_two_types_are_refused(folder, capsys, name):
    (folder / "gold.jsonl").write_bytes(
        jsonl([{"id": 1, "label": "A"}, {"id": 2, "label": "A"}, {"id": "1", "label": "A"}])
    )
    assert main(["split", *SPLITS[name], "--output", "made"]) == 3
    message = (
        'gold.jsonl:3: id has another type than on earlier lines, found "1", expected an integer, as on earlier lines'
    )
    assert message in capsys.readouterr().err


def test_the_public_private_split_is_by_group(folder):
    assert main(["split", *SPLITS["public-private"], "--output", "made"]) == 0
    public, private = (
        {line["group"] for line in lines_of(folder / f"made/{part}.jsonl")} for part in ("public", "private")
    )
    assert (len(public), len(private), public & private) == (5, 15, set())


def test_a_generated_symmetric_set_passes_its_audit_and_a_broken_one_does_not(folder, capsys):
    assert main(["split", *SPLITS["symmetric"], "--output", "made"]) == 0
    assert main(["audit", "symmetric", "made/gold.jsonl"]) == 0
    lines = lines_of(folder / "made/gold.jsonl")
    lines[0]["label"] = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}[lines[0]["label"]]
    (folder / "broken.jsonl").write_bytes(jsonl(lines))
    capsys.readouterr()
    assert main(["audit", "symmetric", "broken.jsonl"]) == 3
    message = capsys.readouterr().err.splitlines()
    assert message[0].startswith(f'broken.jsonl:1: group "{lines[0]["group"]}": ')
    assert any("predicts the label" in line for line in message)


def test_weights_have_every_id_in_order(folder, capsys):
    assert main(["split", *SPLITS["reweight"], "--output", "made", "--json"]) == 0
    objectives = json.loads(capsys.readouterr().out)["objectives"]
    assert objectives[-1] < objectives[0]
    lines = lines_of(folder / "made/weights.jsonl")
    assert [line["id"] for line in lines] == [claim["id"] for claim in CLAIMS]
    assert min(line["weight"] for line in lines) >= 1 < max(line["weight"] for line in lines)


def test_cues_are_printed_and_written_only_on_request(folder, capsys):
    arguments = ["audit", "cues", "claims.jsonl", "--drop", "it in", "--top", "1"]
    assert main(arguments) == 0
    assert "not rain" in capsys.readouterr().out
    assert names(folder) == ["claims.jsonl", "contraries.jsonl", "gold.jsonl", "originals.jsonl"]
    assert main([*arguments, "--output", "made", "--json"]) == 0
    top = json.loads(capsys.readouterr().out)["top"]
    stored = lines_of(folder / "made/cues.jsonl")
    assert next(cue for cue in stored if cue["label"] == "REFUTES") == top["REFUTES"][0]
    assert {cue["label"] for cue in stored} == {"REFUTES", "SUPPORTS"}


def test_cues_after_reweighting_and_in_other_claims(folder, capsys):
    (folder / "dev.jsonl").write_bytes(jsonl(CLAIMS[:10]))
    weights = [{"id": claim["id"], "weight": 3 if claim["label"] == "REFUTES" else 1} for claim in CLAIMS]
    (folder / "weights.jsonl").write_bytes(jsonl(weights))
    both = ["--weights", "weights.jsonl", "--beside", "dev.jsonl", "--min-frequency", "2", "--drop", ""]
    assert main(["audit", "cues", "claims.jsonl", *both, "--output", "made", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    top = report["top"]["SUPPORTS"][0]
    assert top["weighted_p"] == top["n_label"] / (top["n_label"] + 3 * (top["n"] - top["n_label"]))
    assert 0 < top["dev_n"] < top["n"]
    assert [row["top"] for row in report["correlation"]["SUPPORTS"]] == [10]
    assert all(0 < row["claims"] <= 1 for row in report["coverage"]["SUPPORTS"])
    assert names(folder / "made") == ["correlation.svg", "coverage.svg", "cues.html", "cues.jsonl", "recipe.json"]
    page = (folder / "made/cues.html").read_text()
    assert (
        (folder / "made/correlation.svg").read_text() in page
        and "weighted LMI" in page
        and "http:" not in (page.replace("http://www.w3.org/2000/svg", ""))
    )
    ElementTree.fromstring((folder / "made/coverage.svg").read_text())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"id": 0, "weight": 1}], "claims without a weight, found 39, first 1, expected a weight for every claim"),
        ([{"id": 99, "weight": 1}], "weights.jsonl:1: unknown id, found 99"),
        ([{"id": 0, "weight": -1}], "weights.jsonl:1: weight is not valid, found -1.0, expected a finite number, 0 or"),
    ],
)
def test_every_claim_needs_a_weight(folder, capsys, lines, message):
    (folder / "weights.jsonl").write_bytes(jsonl(lines))
    assert main(["audit", "cues", "claims.jsonl", "--weights", "weights.jsonl"]) == 3
    assert message in capsys.readouterr().err


def test_labels_of_both_files_are_the_same(folder, capsys):
    (folder / "dev.jsonl").write_bytes(jsonl([{"id": 1, "claim": "it did", "label": "NO"}]))
    assert main(["audit", "cues", "claims.jsonl", "--beside", "dev.jsonl"]) == 3
    message = 'dev.jsonl: unknown label, found "NO", expected one of: REFUTES, SUPPORTS'
    assert message in capsys.readouterr().err


def test_frequent_words_may_come_from_another_file(folder, capsys):
    training = [
        {"id": k, "claim": word, "label": "REFUTES"} for k, word in enumerate(["did"] * 3 + list("abcdefghijk"))
    ]
    (folder / "training.jsonl").write_bytes(jsonl(training))
    assert main(["audit", "cues", "claims.jsonl", "--drop-from", "training.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dropped"] == ["did", *"abcdefghi"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["public-private", "none.jsonl"], "cannot read"),
        (["public-private", "."], "cannot read"),
        (["public-private", "gold.jsonl", "--share", "2"], "above 0 and below 1"),
        (["public-private", "gold.jsonl", "--seed", "-1"], "expected a whole number, 0 or more"),
        (["folds", "gold.jsonl", "--folds", "1"], "expected a whole number from 2"),
        (["folds", "gold.jsonl", "--parts", "folds=1-5"], "the name of the list of all folds"),
        (["folds", "gold.jsonl", "--folds", "20"], "14 documents for 20 folds"),
        (["folds", "gold.jsonl", "--mark", ""], "--mark is empty, expected a key"),
        (["folds", "gold.jsonl", "--parts", f"{'a' * 300}=1-5"], "up to 60 letters, digits, _ and -"),
        (["holdout", "gold.jsonl", "--parts", f"{'a' * 300}=0.5,b=0.5"], "up to 60 letters, digits, _ and -"),
        (["holdout", "gold.jsonl", "--parts", "train=1"], "the number of parts is 1, expected 2 or more"),
        (
            ["holdout", "gold.jsonl", "--parts", "a=\u00bd,b=0.5"],
            'the share of part "a" is "\u00bd", expected a number',
        ),
        (["holdout", "gold.jsonl", "--parts", "../x=0.5,y=0.5"], "expected NAME=SHARE"),
        (["reweight", "claims.jsonl", "--lambda", "nan"], "expected a number, 0 or more"),
        (["reweight", "claims.jsonl"], "--lambda"),
        (["symmetric", "originals.jsonl", "contraries.jsonl"], "--salt"),
        (["reweight", "claims.jsonl", "--lambda", "1", "--text", 'a"b'], 'the keys of text and label are "a\\"b" and'),
        (
            ["reweight", "claims.jsonl", "--lambda", "1", "--label", "\udcff"],
            'label are "claim" and "\\udcff", expected',
        ),
        (["nothing"], "invalid choice"),
    ],
)
def test_wrong_usage_exits_64_and_leaves_no_files(folder, capsys, arguments, message):
    before = names(folder)
    assert main(["split", *arguments, "--output", "made"]) == 64
    assert message in capsys.readouterr().err
    assert names(folder) == before


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "public-private",
            b'{"id": 1}\n{"id": 1.5}\n',
            "bad.jsonl:2: group is not valid, found 1.5, expected a string or an integer",
        ),
        ("public-private", b'{"id": 1}\n\n', "bad.jsonl:2: blank line"),
        ("public-private", b'{"id": 1}\r\n{"id":\r2}\n', "bad.jsonl:2: a carriage return alone, found CR without LF"),
        ("public-private", b'{"id": 1}\n{"id": 2}\r\r\n', "bad.jsonl:2: a carriage return alone, found CR without LF"),
        ("public-private", b'{"id": 1, "id": 2}\n', "bad.jsonl:1: duplicate key"),
        ("public-private", b'{"id": NaN}\n', "bad.jsonl:1: not valid JSON"),
        ("public-private", b"[1]\n", "bad.jsonl:1: the line is not an object"),
        ("public-private", b"\xef\xbb\xbf{}", "bad.jsonl:1: the file begins with a byte order mark"),
        ("public-private", b'{"id": "\xff"}', "bad.jsonl:1: not UTF-8, found 0xff at byte 9 of the line"),
        ("public-private", b"", "bad.jsonl: the file is empty"),
        ("folds", b'{"id": 1}', "bad.jsonl:1: documentId is not valid, found no such key"),
        ("reweight", b'{"id": 1, "claim": 2, "label": "A"}', "bad.jsonl:1: claim has the wrong type"),
    ],
)
def test_a_bad_file_exits_3_with_its_line(folder, capsys, name, content, message):
    (folder / "bad.jsonl").write_bytes(content)
    before = names(folder)
    more = ["--lambda", "1"] if name == "reweight" else []
    assert main(["split", name, "bad.jsonl", *more, "--output", "made", "--json"]) == 3
    out, err = capsys.readouterr()
    assert message in err
    assert json.loads(out)["problems"][0]["file"] == "bad.jsonl"
    assert names(folder) == before


def test_an_empty_folder_is_used_and_a_nonempty_one_is_refused(folder, capsys):
    (folder / "made").mkdir()
    assert main(["split", *SPLITS["public-private"], "--output", "made"]) == 0
    contents = {name: (folder / "made" / name).read_bytes() for name in names(folder / "made")}
    assert main(["split", *SPLITS["folds"], "--output", "made"]) == 64
    assert "which is not empty" in capsys.readouterr().err
    assert {name: (folder / "made" / name).read_bytes() for name in names(folder / "made")} == contents
    assert not [name for name in names(folder) if name.endswith(".partial")]


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (KeyboardInterrupt(), 130),
        (GoldError([Problem("gold.jsonl", 3, "broken")]), 3),
        (UsageError("wrong"), 64),
        (ZeroDivisionError("with gold in its text"), 4),
        (OSError(errno.ENOSPC, "No space left on device", "with gold"), 4),
    ],
)
def test_failed_work_leaves_no_files(folder, capsys, monkeypatch, failure, status):
    def make(options, bench):
        bench.input("gold", options.gold)
        bench.output("half.jsonl").write(b"half")
        raise failure

    generator = Generator("breaking", 1, "", make, lambda parser: parser.add_argument("gold", type=Path))
    monkeypatch.setattr(curation, "SPLITS", (generator,))
    before = names(folder)
    assert main(["split", "breaking", "gold.jsonl", "--output", "made"]) == status
    assert "with gold" not in capsys.readouterr().err
    assert names(folder) == before


def test_a_signal_ends_the_work_and_leaves_no_files(folder):
    """The command waits for its input, a pipe, after it created its hidden folder; then it gets a signal."""
    os.mkfifo(folder / "pipe.jsonl")
    before = names(folder)
    arguments = [sys.executable, "-m", "evaluator", "split", "public-private", "pipe.jsonl", "--output", "made"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(arguments, cwd=folder, env=environment, stderr=subprocess.PIPE) as process:
        with (folder / "pipe.jsonl").open("wb", buffering=0) as pipe:  # opens when the command reads
            pipe.write(b'{"id": 1}\n')
            assert len(names(folder)) == len(before) + 1
            process.send_signal(signal.SIGTERM)
            error = process.stderr.read()
        assert process.wait() == 130
    assert b"interrupted" in error
    assert names(folder) == before


@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx", "parquet"])
def test_a_split_is_read_from_and_written_as_tables(folder, kind):
    (folder / f"gold.{kind}").write_bytes(write_table((folder / "gold.jsonl").read_bytes().splitlines(), kind))
    arguments = ["--parts", "a=0.5,b=0.5", "--table", kind, "--output"]
    assert main(["split", "holdout", "gold.jsonl", *arguments, "made"]) == 0
    assert main(["split", "holdout", f"gold.{kind}", *arguments, "of-table"]) == 0
    assert lines_of(folder / "made" / "a.jsonl") == lines_of(folder / "of-table" / "a.jsonl")
    assert names(folder / "made") == sorted(["a.jsonl", "b.jsonl", f"a.{kind}", f"b.{kind}", "recipe.json"])
    recorded = json.loads((folder / "made" / "recipe.json").read_text())
    for file in recorded["outputs"]:
        assert hashlib.sha256((folder / "made" / file["name"]).read_bytes()).hexdigest() == file["sha256"]
    # Each table has the lines of its file, so that a part of a split can be split again.
    assert main(["split", "folds", f"made/a.{kind}", "--by", "id", "--output", "again"]) == 0


def test_an_invalid_row_has_its_number(folder, capsys):
    (folder / "gold.csv").write_text("id,label:json\na,1\nb,?\n")
    assert main(["split", "holdout", "gold.csv", "--output", "made"]) == 3
    assert 'gold.csv:3: label is not valid, found "?", expected JSON' in capsys.readouterr().err


def test_a_partly_read_input_is_hashed_completely(folder):
    with Workspace(folder / "made") as bench:
        bench.input("gold", folder / "gold.jsonl").readline()
        inputs, _ = bench.files()
    assert inputs[0]["sha256"] == hashlib.sha256((folder / "gold.jsonl").read_bytes()).hexdigest()


def test_output_names_are_unique_and_recipe_json_is_reserved(folder):
    with Workspace(folder / "made") as bench:
        bench.output("a.jsonl")
        for name in ("a.jsonl", "recipe.json"):
            with pytest.raises(ValueError, match="already exists"):
                bench.output(name)
    with Workspace(None) as bench, pytest.raises(ValueError, match="has no output folder"):
        bench.output("a.jsonl")


def test_scoring_loads_no_scipy():
    """The parser knows the commands; their dependencies are loaded when they run."""
    code = (
        "import sys\nfrom evaluator.cli.main import main\nmain(['tasks', '--json'])\n"
        "sys.exit(any(name in sys.modules for name in ('scipy', 'sklearn', 'pandas', 'openpyxl', 'pyarrow')))"
    )
    completed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert completed.returncode == 0, completed.stderr.decode()
