"""Validation of uploaded gold in the sandbox, which also derives the inputs from the gold."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import msgspec
import structlog
from django.conf import settings
from django.core.files import File

from evaluator.errors import Problem, shown
from evaluator.jobs.gold import PrepareGoldReport
from evaluator.jsonl.decompress import is_packed
from evaluator.tasks.registry import TASKS
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Reason, Split, User
from leaderboard.submissions.actions import refused_uploads

log = structlog.get_logger(__name__)
MAX_SHOWN_PROBLEMS = 100


LONGEST = 200
"""Maximum number of characters of a dimension's name and of a slice's value."""


@dataclass(frozen=True)
class Prepared:
    """Result of validating a gold file.

    facts: the report of the sandbox's job, such as numbers of units and groups. inputs: the content of the gold file
    without the answers, as JSON Lines.
    """

    facts: PrepareGoldReport
    inputs: bytes


def prepare(*, split: Split, file: File[bytes], name: str, by: User) -> Prepared:
    """Validate a gold file for a split and derive the inputs from the file. Store nothing.

    name: the file's name; a name ending in .gz marks a compressed file. by: the user, for whom a refused file's time is
    recorded (`refused_uploads`). Raises Refused: INVALID_GOLD with the invalid lines, or if the validation exceeds the
    limits of time or memory; SANDBOX_UNAVAILABLE.
    """
    try:
        answer = sandbox_client.prepare_gold(
            {"gold": _stream(file)}, task=split.dataset.task, gold_name=name, options=split.options
        )
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable("The gold could not be checked", error) from error
    if not answer.ok:
        reason = answer.reason or Reason.BAD_GOLD
        refused_uploads.record("gold.refused", split, by=by, reason=reason, cpu_seconds=answer.cpu_seconds)
    if answer.reason:
        raise Refused(
            Code.INVALID_GOLD,
            "The gold could not be checked within the limits for one file: "
            f"{sandbox_client.limits_in_words(settings.SCORE_SECONDS)}.",
        )
    if answer.report.get("fault") == "usage":
        causes = "; ".join(problem["text"] for problem in answer.report["problems"])
        raise Refused(Code.INVALID_GOLD, f"The split's options are not valid for this gold: {causes}.")
    if not answer.ok:
        raise _refused(answer.report.get("problems", []), answer.report.get("more", 0))
    try:
        facts = answer.read(PrepareGoldReport)
    except ReportError as error:
        log.error("gold_report_malformed", split=split.pk, error=str(error))
        raise Refused(
            Code.SANDBOX_UNAVAILABLE, "The gold could not be checked: the sandbox's report is malformed."
        ) from error
    problems = length_problems(facts.dimensions, name)
    if not problems and split.kind != Split.Kind.TRAIN:
        texts = test_gold_problems(split.dataset.task, _stream(file), name, facts.dimensions)
        problems = [Problem(name, None, text).as_dict() for text in texts]
    if problems:
        raise _refused(problems[:MAX_SHOWN_PROBLEMS], max(0, len(problems) - MAX_SHOWN_PROBLEMS))
    return Prepared(facts, answer.attachment)


def length_problems(dimensions: Mapping[str, Iterable[Any]], name: str) -> list[dict[str, Any]]:
    """Return the problems of gold with names of dimensions or slices that are too long to store.

    Every scoring on such gold would fail. dimensions: the values of each of its dimensions. name: the file's name.
    """
    return [
        Problem(
            name,
            None,
            f"{kind} is too long: it begins with {shown(text[:40])}",
            f"{len(text)} characters",
            f"at most {LONGEST}",
        ).as_dict()
        for dimension, values in dimensions.items()
        for kind, text in [("a dimension's name", dimension), *(("a slice's value", str(value)) for value in values)]
        if len(text) > LONGEST
    ]


def test_gold_problems(task: str, gold: IO[bytes], name: str, dimensions: Collection[str]) -> list[str]:
    """Return why gold that the sandbox found valid is refused in all but train splits, one sentence each, if at all.

    The task decides (`Task.test_gold_problems`): an example is an incomplete symmetric set.
    """
    return TASKS[task].test_gold_problems(_lines(gold, name), dimensions)


def _lines(gold: IO[bytes], name: str) -> Iterator[dict[str, Any]]:
    """Yield the decoded lines of a gold file, whose format and size the sandbox has already checked.

    name: the file's name; a name ending in .gz marks a compressed file.
    """
    gold.seek(0)
    stream = gzip.GzipFile(fileobj=gold) if is_packed(name) else gold
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for line in stream:
        yield decode(line)


def _stream(file: File[bytes]) -> IO[bytes]:
    if file.file is None:
        raise ValueError("the uploaded gold file is closed, expected an open one")
    return file.file


def _refused(problems: list[dict[str, Any]], more: int) -> Refused:
    count = len(problems) + more
    text = f"The gold has {count} problem{'s' if count != 1 else ''}. Nothing was stored."
    return Refused(Code.INVALID_GOLD, text, problems, more)
