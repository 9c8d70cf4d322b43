"""Old names of commands and options: they work like the new ones, and a notice names the new one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evaluator.cli.deprecated_names import COMMANDS, OPTIONS, replace
from evaluator.cli.main import main

TRIPLES = "".join(f"s{k} x\tis part of\to{k} y\ts{k} x\to{k} y\n" for k in range(9))
FILES = {
    "facts.jsonl": [{"id": k, "text": f"On {k + 1} May 1990.", "facts": [["a", "on", f"{k} May"]]} for k in range(3)],
    "corrected.jsonl": [{"id": k, "facts": []} for k in range(3)],
    "claims.jsonl": [{"id": k, "claim": f"c {k}", "label": ("SUPPORTS", "REFUTES")[k % 2]} for k in range(6)],
    "inputs.jsonl": [{"id": k, "claim": f"c {k}"} for k in range(6)],
    "pairs.jsonl": [{"id": 1, "subject": "s0", "relation": "p", "object": "o0", "label": True}],
}
ARGUMENTS: dict[tuple[str, ...], list[str]] = {
    ("baseline",): ["fact-verification", "majority", "--inputs", "inputs.jsonl"],
    ("split", "corrupted"): ["facts.jsonl", "--kind", "dates", "--json"],
    ("split", "halves"): ["claims.jsonl", "--json"],
    ("split", "leakage"): ["triples.tsv", "--evaluation", "evaluation.tsv", "--json"],
    ("audit", "difference"): ["fact-extraction", "facts.jsonl", "corrected.jsonl", "--json"],
    ("split", "scenarios", "--apart-from"): [
        *("pairs.jsonl", "--graph", "graph.tsv", "--relation", "p", "--size", "2", "--json")
    ],
    ("split", "open-evaluation", "--tokens"): ["2", "triples.tsv", "--size", "2", "--json"],
    ("audit", "split", "--near"): ["0.9", "fact-verification", "--gold", "claims.jsonl", "--json"],
}
"""Arguments of the commands that need no server; server/test_reading_commands.py compares the others."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in FILES.items():
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "triples.tsv").write_text(TRIPLES)
    (tmp_path / "evaluation.tsv").write_text(TRIPLES.splitlines(keepends=True)[0])
    (tmp_path / "graph.tsv").write_text("".join(f"s{k}\tp\to{k}\n" for k in range(6)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(arguments: list[str], capsysbinary: pytest.CaptureFixture[bytes]) -> tuple[int, bytes, str]:
    status = main(arguments)
    out, err = capsysbinary.readouterr()
    return status, out, err.decode()


@pytest.mark.parametrize("old", ARGUMENTS, ids=" ".join)
def test_an_old_name_works_like_the_new_one(
    old: tuple[str, ...], folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    new = [*old[:-1], COMMANDS[old] if old in COMMANDS else OPTIONS[old[0], old[1], old[2]]]
    arguments = ARGUMENTS[old]
    results = []
    for number, name in enumerate((list(old), new)):
        output = ["--output", f"made-{number}"] if old[0] == "split" else []
        results.append(run([*name, *arguments, *output], capsysbinary))
    (status, out, err), (new_status, new_out, new_err) = results
    assert (status, out) == (new_status, new_out)
    assert status in (0, 1) and out, err
    names = (old[-1], new[-1]) if len(old) == 3 else (" ".join(old), " ".join(new))
    notices = [line for line in err.splitlines() if line.startswith("holdout-eval: ")]
    assert notices == [f'holdout-eval: "{names[0]}" is now "{names[1]}"']
    assert "is now" not in new_err
    if old[0] == "split":
        outputs = [{path.name: path.read_bytes() for path in (folder / f"made-{n}").iterdir()} for n in (0, 1)]
        assert outputs[0] == outputs[1]


@pytest.mark.parametrize("old", [*COMMANDS, *OPTIONS], ids=" ".join)
def test_the_help_has_the_new_name_only(old: tuple[str, ...], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    new = COMMANDS.get(old) or OPTIONS[old[0], old[1], old[2]]
    with pytest.raises(SystemExit) as end:
        main([*old[:-1], "--help"])
    entries = re.findall(r"^ {2,4}([\w-]+)", capsysbinary.readouterr().out.decode(), re.MULTILINE)
    assert end.value.code == 0
    assert new in entries and old[-1] not in entries


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], []),
        (["--help"], ["--help"]),
        (["split"], ["split"]),
        (["teams", "teams"], ["list-teams", "teams"]),
        (["score", "board", "--gold", "scores"], ["score", "board", "--gold", "scores"]),
        (["audit", "split", "t", "--near=0.5"], ["audit", "split", "t", "--near-duplicate-similarity=0.5"]),
        (["audit", "split", "--", "--near"], ["audit", "split", "--", "--near"]),
        (["audit", "leakage", "--near", "1"], ["audit", "leakage", "--near", "1"]),
    ],
)
def test_only_names_are_replaced(arguments: list[str], expected: list[str]) -> None:
    assert replace(arguments) == expected


def test_each_name_is_tested() -> None:
    server = {("benchmarks",), ("teams",), ("inputs",), ("scores",), ("board",)}
    assert ARGUMENTS.keys() | server == COMMANDS.keys() | OPTIONS.keys()
