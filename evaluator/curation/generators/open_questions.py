"""`split open-questions`: make gold of the task link-prediction from open triples."""

from __future__ import annotations

import argparse
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.open_files import MENTIONS, TRIPLES, dictionary, watched
from evaluator.curation.generators.parameters import Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.open_triples.questions import KnownAnswers, Question, count_leaked, groups, ids, questions
from evaluator.curation.open_triples.triples import OpenTriple, read_blocks, read_triples
from evaluator.errors import UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.progress import Steps
from evaluator.tasks.link_prediction.layout import QUERY_MARKER


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    mentions = dictionary(args, bench)
    names = [_name(path) for path in args.evaluation]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"two evaluation files would both be written to {shown(repeated)}.jsonl; each file needs its own name"
        )
    steps = Steps(bench.size(args.known))
    evaluated: dict[str, list[OpenTriple]] = {}
    left_out = {}
    for name, path in zip(names, args.evaluation, strict=True):
        all_triples = read_triples(bench.input("evaluation", path), str(path), mentions)
        evaluated[name] = [triple for triple in all_triples if QUERY_MARKER not in {triple.subject, triple.object}]
        left_out[name] = len(all_triples) - len(evaluated[name])
    known = KnownAnswers()
    for triples in evaluated.values():
        known.ask(triples)
    for triples in evaluated.values():
        known.learn(triples)
    for path in args.known:
        for block in read_blocks(watched(bench.input("known", path), steps), str(path)):
            known.learn_rows(block.rows, mentions)
    by_file = {name: questions(triples, known.answers) for name, triples in evaluated.items()}
    report: dict[str, Any] = {"files": {}, "leaks": []}
    for name, file_questions in by_file.items():
        lines = _lines(file_questions, args.seed)
        short_lines = [line for line in lines if len(line) <= ReadLimits().line_bytes]
        bench.output(f"{name}.jsonl").write(b"".join(line + b"\n" for line in short_lines))
        report["files"][name] = {
            "triples": len(evaluated[name]),
            "questions": len(short_lines),
            "triples_with_the_mention_?": left_out[name],
            "questions_over_1_MiB": len(lines) - len(short_lines),
        }
    for public, hidden in permutations(by_file, 2):
        if n_leaked := count_leaked(by_file[public], by_file[hidden]):
            report["leaks"].append({"by": public, "of": hidden, "questions": n_leaked})
    return GeneratorResult(report, "\n".join(_text(report)))


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _lines(questions: list[Question], seed: int) -> list[bytes]:
    """Return the gold lines as JSON, sorted by id."""
    names = ids(questions, seed=seed)
    group = groups(questions)
    # A group is named by its first question's id, which reveals nothing beyond the gold.
    first: dict[int, str] = {}
    for identifier, number in sorted(zip(names, group, strict=True)):
        first.setdefault(number, identifier)
    return [
        msgspec.json.encode(
            {
                "id": identifier,
                "question": question.prefix,
                "answers": question.answers,
                "filtered": question.filtered,
                "group": first[number],
                "slices": {"side": question.side},
            }
        )
        for identifier, question, number in sorted(zip(names, questions, group, strict=True), key=lambda item: item[0])
    ]


def _text(report: dict[str, Any]) -> list[str]:
    lines = []
    for name, counts in report["files"].items():
        lines.append(f"{name}.jsonl: {counts['triples']:,} triples, {counts['questions']:,} questions")
        if n := counts["triples_with_the_mention_?"]:
            lines.append(f'  {n:,} triples with the mention "?" are left out')
        if n := counts["questions_over_1_MiB"]:
            lines.append(f"  {n:,} questions with over 1 MiB of answers are left out")
    return lines + [
        f"the gold of {item['by']} reveals answers to {item['questions']:,} questions of {item['of']}: keep both "
        "hidden, or publish both"
        for item in report["leaks"]
    ]


GENERATOR = Generator(
    name="open-questions",
    version=1,
    summary="make link-prediction gold from open triples: questions, answers, other known answers",
    make=_make,
    sources=(
        Source("evaluation", "Triples to turn into questions", f"test and validation files: {TRIPLES}", several=True),
        Source(
            "known",
            "Other known triples",
            "training triples, whose answers also count as known",
            flag="--known",
            several=True,
            repeated=True,
            required=False,
        ),
        MENTIONS,
    ),
)
