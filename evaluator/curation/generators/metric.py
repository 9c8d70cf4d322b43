"""`audit metric`: run a metric over corrupted texts, whose accuracy is known (Goodrich et al. 2019, table 2)."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from evaluator.curation.corruption.expected import Expected
from evaluator.curation.corruption.shuffle import Fact
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.text_stats.correlation import spearman
from evaluator.errors import GoldError, UsageError, shown
from evaluator.jsonl.ids import AnswerRegister, Id, IdRegister, report_missing
from evaluator.jsonl.reader import Format, Reader
from evaluator.outcomes.table import Numbers
from evaluator.progress import Steps
from evaluator.tasks.fact_extraction.layout import GOLD, INPUTS, PREDICTIONS
from evaluator.tasks.items.files import KnownItems
from evaluator.tasks.items.scores import PREDICTIONS as SCORES
from evaluator.tasks.items.scores import Scores

_INPUTS = "{inputs}"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", type=Path, help="gold of fact-extraction with texts, which `split corrupt` read")
    add("corrupted", type=Path, nargs="+", metavar="FOLDER", help="folders that `split corrupt` wrote")
    add(
        "--metric",
        required=True,
        metavar="COMMAND",
        help="a program that reads lines {id, generated, reference} from standard input, or from the file whose path "
        f"replaces {_INPUTS} in COMMAND, and writes a line {{id, score}} for each",
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    index_of, texts, facts = _read_gold(args, bench)
    progress = Steps(1 + len(args.corrupted))
    unchanged = _scores(args.metric, index_of, texts, texts)
    progress.add(1)
    rows = []
    for folder in args.corrupted:
        inputs = _read_corrupted(folder / "inputs.jsonl", INPUTS, index_of, bench)
        corrupted = [line.facts for line in _read_corrupted(folder / "predictions.jsonl", PREDICTIONS, index_of, bench)]
        scores = _scores(args.metric, index_of, [line.text for line in inputs], texts)
        rows.append({"corrupted": folder.name, **_compare(scores, unchanged, facts, corrupted)})
        progress.add(1)
    bench.write_rows("metric.jsonl", rows)
    return GeneratorResult({"texts": len(texts), "corrupted": rows}, _text(len(texts), rows))


def _read_gold(args: argparse.Namespace, bench: Workspace) -> tuple[Mapping[Id, int], list[str], list[list[Fact]]]:
    """Return (id -> index of its gold line, texts, facts of each text), in the order of gold lines.

    Raises GoldError for an invalid line, and for a line without a text.
    """
    reader = Reader(str(args.gold), GOLD, GoldError)
    register = IdRegister(reader.problems)
    texts, facts = list[str](), list[list[Fact]]()
    for number, line in reader.records(bench.input("gold", args.gold)):
        if line.text is msgspec.UNSET:
            reader.problems.add(number, "the line has no text", "facts only", "a text, which the metric compares")
        elif register.add(line.id, number):
            texts.append(line.text)
            facts.append(line.facts)
    reader.problems.raise_if_any()
    return register.indices, texts, facts


def _read_corrupted(path: Path, layout: Format[Any], index_of: Mapping[Id, int], bench: Workspace) -> list[Any]:
    """Return the lines of the corrupted texts, in the order of the gold.

    index_of: id -> index of its gold line. Raises GoldError unless each of these ids has one line, and for inputs
    without a text.
    """
    reader = Reader(str(path), layout, GoldError)
    register = AnswerRegister(index_of, reader.problems)
    lines: list[Any] = [None] * len(index_of)
    for number, line in reader.records(bench.input("corrupted", path)):
        index = register.index_of(line.id, number)
        if getattr(line, "text", "") is msgspec.UNSET:
            reader.problems.add(number, "the line has no text", "no such key", "a text, which the metric compares")
        elif index is not None:
            lines[index] = line
    report_missing(reader.problems, register.silent, reader.n_unread)
    reader.problems.raise_if_any()
    return lines


def _scores(command: str, index_of: Mapping[Id, int], generated: Sequence[str], references: Sequence[str]) -> Numbers:
    """Run the metric and return its score of each generated text, compared with the reference text of the same index.

    command: the metric's command line. index_of: ids in the order of the texts. Raises UsageError if the command fails
    or cannot be run, and PredictionError for invalid scores.
    """
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as inputs, tempfile.TemporaryFile() as output:
        for name, text, reference in zip(index_of, generated, references, strict=True):
            inputs.write(msgspec.json.encode({"id": name, "generated": text, "reference": reference}) + b"\n")
        inputs.seek(0)
        words = [word.replace(_INPUTS, inputs.name) for word in _words(command)]
        try:
            # The curator's own program, on the curator's machine.
            status = subprocess.run(words, stdin=inputs, stdout=output, check=False).returncode  # noqa: S603
        except OSError as error:
            raise UsageError(f"--metric is {shown(command)}, which cannot be run: {error.strerror}") from None
        if status:
            raise UsageError(f"--metric is {shown(command)}, which ended with status {status}, expected 0")
        output.seek(0)
        file, known = "the metric's output", KnownItems(index_of, {})
        return Scores(file, known).read(output, SCORES, None, complete=True).values


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--metric is {shown(command)}, expected a command line: {error}") from None
    if not words:
        raise UsageError("--metric is empty, expected a command line")
    return words


def _compare(
    scores: Numbers, unchanged: Numbers, gold: Sequence[list[Fact]], corrupted: Sequence[list[Fact]]
) -> dict[str, Any]:
    """Return the metric's mean scores, the known accuracy, and the rank correlation of score and accuracy over texts.

    Texts without facts after the permutation are left out of the correlation. scores, unchanged: the metric's scores of
    the corrupted and of the unchanged texts. gold, corrupted: each text's facts before and after the permutation.
    """
    total, accuracies = Expected(), {}
    for index, (before, after) in enumerate(zip(gold, corrupted, strict=True)):
        total.add(before, after)
        of_text = Expected()
        of_text.add(before, after)
        if of_text.accuracy is not None:
            accuracies[index] = of_text.accuracy
    return {
        "expected_accuracy": total.accuracy,
        "expected_fact_acc": total.fact_acc,
        "mean_score": float(scores.mean()),
        "mean_score_of_unchanged_texts": float(unchanged.mean()),
        "spearman": spearman(np.array(list(accuracies.values())), scores[list(accuracies)]) if accuracies else None,
    }


def _text(n_texts: int, rows: list[dict[str, Any]]) -> str:
    columns = [
        ("expected_accuracy", "accuracy"),
        ("mean_score", "score"),
        ("mean_score_of_unchanged_texts", "unchanged"),
        ("spearman", "Spearman"),
    ]
    lines = [
        f"{n_texts} texts; accuracy of their facts after the permutation, and the metric's mean score",
        " ".join([*(f"{heading:>9}" for _, heading in columns), " corrupted"]),
    ]
    for row in rows:
        cells = ["-" if row[key] is None else f"{row[key]:.4f}" for key, _ in columns]
        lines.append(" ".join([*(f"{cell:>9}" for cell in cells), f" {row['corrupted']}"]))
    return "\n".join(lines)


AUDIT = Generator(
    name="metric",
    version=1,
    summary="run a metric over corrupted texts, and compare its scores with their known accuracy",
    add_arguments=_add_arguments,
    make=_make,
    seeded=False,
)
