"""Every option of every command, given twice: both values count, or the command is refused. None replaces another."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError

from evaluator.cli.main import _parser, main
from evaluator.errors import UsageError
from evaluator.options import Parser
from evaluator.sandbox.process import server
from tests.support.deploy_scripts import check_gpu

ROOT = Path(__file__).parents[3]
CANDIDATES = ("1", "2", "a=1", "b=1", "name", "other", "0.5")


def leaves(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the parser of each command below `parser`, with its name."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for group in groups:
        for word, command in group.choices.items():
            yield from leaves(command, f"{name} {word}")
    if not groups:
        yield name, parser


def parsers() -> dict[str, argparse.ArgumentParser]:
    found = dict(leaves(_parser(None), "holdout-eval"))
    found["holdout-eval validate, of a phase"] = dict(leaves(_parser(["validate", "--benchmark", "b"]), "x"))[
        "x validate"
    ]
    found["sandbox server"] = server._parser()
    found["check-gpu"] = check_gpu._parser()
    for name, app in get_commands().items():
        if app == "leaderboard":
            found[f"manage.py {name}"] = load_command_class(app, name).create_parser("manage.py", name)
    return found


PARSERS = parsers()


def texts(parser: argparse.ArgumentParser, action: argparse.Action) -> list[str]:
    """Two valid values of an option or a positional argument, or none if it takes no value."""
    if action.nargs == 0:
        return []
    valid = []
    for text in action.choices or CANDIDATES:
        try:
            parser._get_value(action, str(text))
        except argparse.ArgumentError:
            continue
        valid.append(str(text))
    return [valid[0], valid[-1]]


def once(parser: argparse.ArgumentParser, action: argparse.Action, flag: str, which: int) -> list[str]:
    """The words that give an option its first or its second value."""
    words = texts(parser, action)
    return [flag, words[which]] if words else [flag]


def base(parser: argparse.ArgumentParser, tested: argparse.Action) -> tuple[list[str], list[str]]:
    """The positional arguments, and the required options except for the tested one."""
    positional, options = [], []
    for action in parser._actions:
        if not action.option_strings:
            positional += texts(parser, action)[:1]
        elif action.required and action is not tested:
            options += once(parser, action, action.option_strings[0], 0)
    for group in parser._mutually_exclusive_groups:
        if group.required and tested not in group._group_actions:
            action = group._group_actions[0]
            options += once(parser, action, action.option_strings[0], 0)
    return positional, options


def flat(value: object) -> list[object]:
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


CASES = [
    (f"{name} {flag}", parser, action, flag)
    for name, parser in PARSERS.items()
    for action in parser._actions
    for flag in action.option_strings[-1:]
    if not isinstance(action, argparse._HelpAction | argparse._VersionAction)
]
REFUSALS = (UsageError, CommandError, SystemExit)
ONE_VALUE = (argparse._StoreAction, argparse._StoreConstAction, argparse.BooleanOptionalAction)


def test_a_repeated_option_accumulates_or_is_refused() -> None:
    wrong = []
    for case, parser, action, flag in CASES:
        positional, options = base(parser, action)
        first = once(parser, action, action.option_strings[0], 0)  # the short name, if it has two
        second = once(parser, action, flag, 1)
        parser.parse_args([*positional, *options, *first])
        try:
            args = parser.parse_args([*positional, *options, *first, *second])
        except REFUSALS as refusal:
            is_told = isinstance(refusal, SystemExit) or f"{flag} is given twice" in str(refusal)
            wrong += [] if isinstance(action, ONE_VALUE) and is_told else [f"{case}: {refusal}"]
        else:
            given = flat(getattr(args, action.dest))
            wrong += [] if len(given) == 2 else [f"{case}: {given}"]
    assert wrong == [] and len(CASES) > 300


def accepts(parser: argparse.ArgumentParser, words: list[str]) -> bool:
    try:
        parser.parse_args(words)
    except REFUSALS:
        return False
    return True


def test_one_value_given_twice_is_refused() -> None:
    accepted = []
    for case, parser, action, flag in CASES:
        positional, options = base(parser, action)
        again = once(parser, action, flag, 0)
        if action.nargs != 0 and accepts(parser, [*positional, *options, *again, *again]):
            accepted.append(case)
    assert accepted == []


def test_options_are_not_abbreviated() -> None:
    accepted = []
    for case, parser, action, flag in CASES:
        positional, options = base(parser, action)
        is_another_option = flag[:-1] in parser._option_string_actions or not flag.startswith("--")
        shorter = [*positional, *options, flag[:-1], *texts(parser, action)[:1]]
        if not is_another_option and accepts(parser, shorter):
            accepted.append(case)
    assert accepted == []


def test_no_command_has_another_parser() -> None:
    """Scripts that write one folder, and tools of the tests, are left out."""
    files = [path for folder in ("evaluator", "leaderboard", "holdout_eval") for path in (ROOT / folder).rglob("*.py")]
    making = [
        str(path.relative_to(ROOT))
        for path in files
        if "ArgumentParser" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ArgumentParser")
    ]
    assert making == []
    commands = {name for name, app in get_commands().items() if app == "leaderboard"}
    assert {f"manage.py {name}" for name in commands} <= PARSERS.keys() and len(commands) > 10


def test_positional_files_given_twice_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("a\tr\tb\n")
    (tmp_path / "sub").mkdir()
    assert main(["audit", "graph", str(graph), str(tmp_path / "sub" / ".." / "graph.txt")]) == 64
    assert "is given twice" in capsys.readouterr().err


def test_three_graphs_of_scenarios_are_one_graph(tmp_path: Path) -> None:
    files = []
    for part in range(3):
        lines = [f"s{i}\tp{i % 3}\to{i % 7}\n" for i in range(60) if i % 3 == part]
        files.append(tmp_path / f"{part}.txt")
        files[-1].write_text("".join(lines))
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(path.read_text() for path in files))
    repeated = [word for path in files for word in ("--graph", str(path))]

    def facts(*graph: str, out: str) -> object:
        words = ["split", "scenarios", *graph, "--relation", "p1", "--size", "4", "--output", str(tmp_path / out)]
        assert main(words) == 0
        return json.loads((tmp_path / out / "recipe.json").read_text())["inputs"]

    assert len(facts(*repeated, out="repeated")) == len(facts("--graph", *map(str, files), out="at-once")) == 3
    assert len(facts("--graph", str(whole), out="whole")) == 1


def test_the_relations_of_repeated_options_are_all_permuted() -> None:
    parser = PARSERS["holdout-eval split corrupt"]
    words = ["gold.jsonl", "--kind", "places", "--output", "x", "--objects-of", "a", "--objects-of", "b", "c"]
    assert parser.parse_args(words).objects_of == ["a", "b", "c"]


def test_a_parser_may_parse_twice() -> None:
    parser = Parser(prog="x")
    parser.add_argument("--seed")
    assert parser.parse_args(["--seed", "1"]).seed == "1"
    assert parser.parse_args(["--seed", "2"]).seed == "2"
