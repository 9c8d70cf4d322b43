"""Old names of commands and options. They still work, print a notice on standard error, and do not appear in --help."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.cli.output import say

COMMANDS: dict[tuple[str, ...], str] = {
    ("benchmarks",): "list-benchmarks",
    ("teams",): "list-teams",
    ("inputs",): "download-inputs",
    ("scores",): "show-scores",
    ("board",): "show-board",
    ("baseline",): "run-baseline",
    ("split", "corrupted"): "corrupt",
    ("split", "halves"): "public-private",
    ("split", "leakage"): "remove-leakage",
    ("audit", "difference"): "diff-gold",
}
"""The new last word of each renamed command, by the command's old words."""

OPTIONS: dict[tuple[str, str, str], str] = {
    ("split", "scenarios", "--apart-from"): "--exclude-pairs",
    ("split", "open-evaluation", "--tokens"): "--min-tokens",
    ("audit", "split", "--near"): "--near-duplicate-similarity",
}
"""The current name of each renamed option, by command, subcommand and old name."""


def replace(words: Sequence[str]) -> list[str]:
    """Return the command line with its old names replaced by the current ones.

    A notice is printed on standard error for each old name.
    """
    current = list(words)
    for length in (1, 2):
        command = tuple(current[:length])
        if command in COMMANDS:
            current[length - 1] = COMMANDS[command]
            _notify(" ".join(command), " ".join(current[:length]))
    for index in range(2, len(current)):
        if current[index] == "--":
            break
        option, equals, value = current[index].partition("=")
        if new := OPTIONS.get((current[0], current[1], option)):
            current[index] = new + equals + value
            _notify(option, new)
    return current


def _notify(old: str, new: str) -> None:
    say(f'holdout-eval: "{old}" is now "{new}"')
