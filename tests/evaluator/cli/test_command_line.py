"""The command `holdout-eval`: its help, its exit status, its output streams and its JSON object."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator import __version__
from evaluator.cli import arguments
from evaluator.cli.main import _parser, main
from evaluator.jobs import JOBS
from evaluator.tasks.registry import TASKS
from tests.support.scoring_runs import jsonl

ROOT = Path(__file__).parents[3]
GOLD = [
    {"id": i, "claim": "c", "label": label, "slices": {"kind": i % 2 == 0}}
    for i, label in enumerate(["SUPPORTS", "REFUTES", "SUPPORTS", "REFUTES"])
]
ANSWERS = [{"id": i, "predicted_label": "SUPPORTS"} for i in range(4)]
INPUTS = [{"id": i, "claim": "c"} for i in range(4)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, lines in (("gold", GOLD), ("answers", ANSWERS), ("inputs", INPUTS)):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(lines))
    (tmp_path / "bad.jsonl").write_bytes(b'{"id": 0, "predicted_label": "MAYBE"}\n{"id": 9}\nx y\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


SCORE = ["score", "fact-verification", "--gold", "gold.jsonl"]


def run(capsys, *arguments):
    status = main(arguments)
    return status, *capsys.readouterr()


def test_json_is_one_object(folder, capsys):
    status, out, err = run(capsys, *SCORE, "answers.jsonl", "--json", "--option", "cross=label,kind")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result.keys() == {"task", "task_version", "n_units", "n_groups", "scores", "warnings"}
    assert (result["task"], result["task_version"], result["n_units"], result["n_groups"]) == (
        "fact-verification",
        1,
        4,
        4,
    )
    first = result["scores"][0]
    assert first.keys() == {"measure", "slice", "value", "low", "high", "n"}
    assert (first["measure"], first["slice"], first["value"], first["n"]) == ("accuracy", {}, 0.5, 4)
    assert 0 <= first["low"] <= first["value"] <= first["high"] <= 1
    assert {"label": "SUPPORTS", "kind": True} in [score["slice"] for score in result["scores"]]


def test_seed_and_resamples(folder, capsys):
    def scores(*more):
        return json.loads(run(capsys, *SCORE, "answers.jsonl", "--json", *more)[1])["scores"]

    assert scores() == scores("--resamples", "1000", "--seed", "0")
    assert [score["low"] for score in scores("--resamples", "0")] == [None] * len(scores())
    assert [score["value"] for score in scores("--seed", "7")] == [score["value"] for score in scores()]


def test_a_table_is_printed_by_default(folder, capsys):
    status, out, _ = run(capsys, *SCORE, "answers.jsonl")
    assert status == 0
    assert "accuracy" in out and "kind=true" in out and "0.5000" in out


def test_bad_predictions_exit_2_with_one_line_per_problem(folder, capsys):
    status, out, err = run(capsys, *SCORE, "bad.jsonl")
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        'bad.jsonl:1: unknown predicted_label, found "MAYBE", expected SUPPORTS, REFUTES or NOT ENOUGH INFO',
        "bad.jsonl:2: predicted_label is missing, found no such key, expected predicted_label",
        "bad.jsonl:3: not valid JSON, found Expecting value at column 1, expected one JSON object",
        "bad.jsonl: 3 ids are missing: 1, 2, 3 (some may be on the 2 lines that could not be read)",
    ]


def test_bad_predictions_as_json(folder, capsys):
    status, out, _ = run(capsys, *SCORE, "bad.jsonl", "--json")
    report = json.loads(out)
    assert (status, report["ok"], report["fault"], len(report["problems"])) == (2, False, "predictions", 4)


def test_bad_gold_exits_3(folder, capsys):
    Path("gold.jsonl").write_bytes(b"{}")
    status, out, err = run(capsys, *SCORE, "answers.jsonl")
    assert (status, out) == (3, "")
    assert err == "gold.jsonl:1: id is missing, found no such key, expected id\n"


def test_validate(folder, capsys):
    status, out, _ = run(capsys, "validate", "fact-verification", "--inputs", "inputs.jsonl", "answers.jsonl")
    assert (status, out) == (0, "answers.jsonl: 4 lines, no problems\n")
    assert run(capsys, "validate", "fact-verification", "--inputs", "inputs.jsonl", "bad.jsonl")[0] == 2
    assert run(capsys, "validate", "fact-verification", "--inputs", "bad.jsonl", "answers.jsonl")[0] == 3


def test_tasks(capsys):
    status, out, _ = run(capsys, "tasks")
    assert status == 0
    assert [line.split(" ")[0] for line in out.splitlines() if not line.startswith(" ")] == list(TASKS)
    assert [task["task"] for task in json.loads(run(capsys, "tasks", "--json")[1])] == list(TASKS)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["score"],
        ["score", "fact-verification", "answers.jsonl"],
        ["score", "no-such-task", "--gold", "gold.jsonl", "answers.jsonl"],
        [*SCORE, "no-such-file.jsonl"],
        [*SCORE, "."],
        [*SCORE, "answers.jsonl", "extra.jsonl"],
        [*SCORE, "answers.jsonl", "--unknown"],
        [*SCORE, "answers.jsonl", "--option", "fold=1"],
        [*SCORE, "answers.jsonl", "--option", "max_evidence"],
        [*SCORE, "answers.jsonl", "--option", "max_evidence=many"],
        [*SCORE, "answers.jsonl", "--option", "max_evidence=1", "--option", "max_evidence=2"],
        [*SCORE, "answers.jsonl", "--option", "cross=label,nowhere"],
        [*SCORE, "answers.jsonl", "--resamples", "-1"],
        [*SCORE, "answers.jsonl", "--resamples", "1e3"],
        [*SCORE, "answers.jsonl", "--seed", "x"],
        ["score", "knowledge-base-population", "--gold", "gold.jsonl", "answers.jsonl", "--option", "fold=6"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_64(folder, capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (64, "")
    assert err.startswith("holdout-eval: ")


def test_an_unexpected_error_exits_4_without_its_message(folder, capsys, monkeypatch):
    def broken(files, arguments):
        raise RuntimeError("SECRET")

    monkeypatch.setitem(JOBS, "score", broken)
    status, out, err = run(capsys, *SCORE, "answers.jsonl")
    assert (status, out) == (4, "")
    assert re.fullmatch(
        r"holdout-eval: internal error \(RuntimeError at test_command_line\.py:\d+\)\. Please report it\.\n", err
    )


def test_as_a_program(folder):
    command = [sys.executable, "-m", "evaluator"]
    result = subprocess.run(
        [*command, *SCORE, "answers.jsonl", "--json"], capture_output=True, check=False, env={"PYTHONPATH": str(ROOT)}
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["n_units"] == 4
    assert (
        subprocess.run([*command, "score"], capture_output=True, check=False, env={"PYTHONPATH": str(ROOT)}).returncode
        == 64
    )


def test_a_closed_pipe_is_not_an_error(folder):
    script = f"{sys.executable} -m evaluator tasks --json | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, check=False, env={"PYTHONPATH": str(ROOT)})
    assert (result.returncode, result.stderr) == (0, b"")


def test_hostile_file_names_are_escaped(folder, capsys):
    name = "x\x1b[31m\n\u202e.jsonl"
    Path(name).write_bytes(b"x")
    _, _, err = run(capsys, *SCORE, name)
    assert "\x1b" not in err and "\u202e" not in err
    assert err.splitlines()[0].startswith("x\\u001b[31m\\n\\u202e.jsonl:1: ")


def parsers(parser, names=()):
    """All parsers of commands and subcommands, by their words."""
    yield names, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from parsers(inner, (*names, name))


def test_the_help_lists_every_command_in_a_group(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    text = capsys.readouterr().out
    commands = [names[0] for names, _ in parsers(_parser()) if len(names) == 1]
    listed = re.findall(r"^  ([a-z][\w-]+)  +\S", text, re.M)
    assert end.value.code == 0 and sorted(listed) == sorted(commands)
    assert [line[:-1] for line in text.splitlines() if line[:-1] in arguments.GROUPS] == list(arguments.GROUPS)
    assert max(map(len, text.splitlines())) <= 80


def test_every_argument_has_help_and_the_program_is_holdout():
    for names, parser in parsers(_parser()):
        assert parser.prog == " ".join(["holdout-eval", *names])
        assert [action.dest for action in parser._actions if not action.help] == [], names
        assert "evaluator" not in parser.format_help()


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"holdout-eval {__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["validate", "a.jsonl", "--benchmark", "b"], ["validate", "a.jsonl", "--phase=p"]]
)
def test_validate_needs_benchmark_and_phase_together(capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (64, "") and "required: --" in err


@pytest.mark.parametrize(
    "more", [["--inputs", "i.jsonl"], ["--option", "fold=1"], []], ids=["with inputs", "with an option", "task alone"]
)
def test_validate_takes_a_task_or_a_phase(capsys, more):
    status, out, err = run(capsys, "validate", "fact-checking", *more, "--benchmark", "b", "--phase", "p", "a.jsonl")
    assert (status, out) == (64, "")
    assert "expected either TASK and --inputs, or --benchmark and --phase" in err


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        "submit --help",
        "login --server http://127.0.0.1:9",
        "list-benchmarks --server http://127.0.0.1:9",
        "show-board --server http://127.0.0.1:9 --benchmark b --phase p",
        "submit --server http://127.0.0.1:9 --benchmark b --phase p --system s answers.jsonl",
    ],
)
def test_commands_that_score_nothing_load_no_numpy(line, folder):
    """They start four times as fast without NumPy, msgspec and the tasks. No server responds at that port."""
    code = (
        "import sys\nfrom evaluator.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'msgspec', 'docker', 'asyncio', 'evaluator.jobs', 'evaluator.tasks'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    environment = {"HOME": str(folder), "HOLDOUT_TOKEN": "t", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *line.split()]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"loaded: {done.stderr}"
