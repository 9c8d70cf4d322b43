"""What must hold after all faults: one result for each accepted submission, equal boards, and no secret in a log."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command

from evaluator.jobs import JOBS
from leaderboard.evaluation import provenance
from leaderboard.models import Leaderboard, Prediction, QuotaCharge, Release, Run, Score, State, Submission
from leaderboard.models.state import TERMINAL
from leaderboard.scoring.verification.rebuild_board import differences
from tests.several_hosts.traffic import Accepted, Wait
from tests.support.rows.tiny_world import World

SHOWN = 5
UNEXPECTED = (400, 401, 403, 404, 413, 422, 500, 502, 504)
"""Statuses that no fault excuses; the others are successes, or ask the client to try again."""
Faults = list[str]
Scores = frozenset[tuple[Any, ...]]


def expected(world: World, contents: list[bytes], gold: bytes) -> list[Scores]:
    """Return the scores of each predictions file, computed in this process."""
    return [_in_process(world, content, gold) for content in contents]


def _in_process(world: World, content: bytes, gold: bytes) -> Scores:
    request = {
        "task": world.benchmark.task,
        "options": {},
        "resamples": settings.RESAMPLES,
        "seed": provenance.seed_of(world.gold),
        "gold_name": "gold.jsonl",
        "predictions_name": "predictions.jsonl",
    }
    report, _ = JOBS["score"]({"gold": io.BytesIO(gold), "predictions": io.BytesIO(content)}, request)
    assert report["ok"], report
    rows = report["result"]["scores"]
    return frozenset(_line(row, json.dumps(row["slice"], sort_keys=True)) for row in rows)


def _line(row: Any, slice_: str) -> tuple[Any, ...]:
    return (row["measure"], slice_, row["value"], row["low"], row["high"], row["n"])


def results(accepted: Iterable[Accepted], files: list[Scores], images: list[Scores]) -> Faults:
    """Check every submission in the database, those whose response was lost included."""
    faults: Faults = []
    known = {row.pk: row for row in accepted}
    rows = {str(pk): system for pk, system in Submission.objects.values_list("pk", "system__name")}
    faults += [f"{pk}: accepted, but not in the database" for pk in known.keys() - rows.keys()]
    predictions = _grouped(Prediction.objects.values_list("submission", "pk"))
    runs = _grouped(Run.objects.values_list("prediction__submission", "pk", "state", "reason"))
    charges = _grouped(QuotaCharge.objects.values_list("submission", "refunded_at"))
    releases = _grouped(Release.objects.values_list("submission", "run"))
    scores: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in Score.objects.values("run", "measure", "slice", "value", "low", "high", "n").iterator():
        scores[row["run"]].append(_line(row, json.dumps(row["slice"], sort_keys=True)))
    for pk in rows:
        found = _faults_of(predictions[pk], runs[pk], charges[pk], releases[pk])
        if not found:
            lines = scores[runs[pk][0][0]]
            row = known.get(pk)
            allowed = [*files, *images] if row is None else [(images if row.is_image else files)[row.variant]]
            if len(lines) != len(set(lines)) or frozenset(lines) not in allowed:
                found = ["its scores differ from those computed in this process"]
        faults += [f"{pk}: {fault}" for fault in found]
    return faults


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    groups: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for submission, *values in rows:
        groups[str(submission)].append(tuple(values))
    return groups


def _faults_of(predictions: list[Any], runs: list[Any], charges: list[Any], releases: list[Any]) -> Faults:
    counts = {"predictions": predictions, "runs": runs, "charges": charges, "releases": releases}
    found = [f"it has {len(rows)} {name}, expected 1" for name, rows in counts.items() if len(rows) != 1]
    found += [f"it ended as {state} ({reason})" for _, state, reason in runs if state != State.DONE]
    return found + ["its charge was given back" for (refunded,) in charges if refunded is not None]


def unfinished() -> int:
    """Return the number of submissions that have no result yet."""
    runs = Run.objects.exclude(state__in=TERMINAL).count()
    waiting = Prediction.objects.exclude(state__in=TERMINAL).count()
    unranked = sum(
        Release.objects.filter(phase=board.phase, sequence__gt=board.phase.ranked_sequence).count()
        for board in Leaderboard.objects.select_related("phase")
    )
    return runs + waiting + unranked


def boards() -> Faults:
    shown = Leaderboard.objects.filter(state__in=Leaderboard.PUBLIC).select_related("phase__benchmark", "gold_version")
    return [f"{board}: {fault}" for board in shown for fault in differences(board)]


def files() -> tuple[Faults, list[str]]:
    """Return what is wrong with stored files, and the names of files that no record has."""
    said = io.StringIO()
    try:
        call_command("check_files", stdout=said)
    except CommandError as error:
        return [str(error), *said.getvalue().splitlines()[:SHOWN]], []
    return [], [line for line in said.getvalue().splitlines() if line.endswith(": no record")]


def leaks(logs: Iterable[Path], secrets: Iterable[str]) -> Faults:
    return [
        f"{path}: has {secret}"
        for path in logs
        for secret in secrets
        if secret in path.read_text(encoding="utf-8", errors="replace")
    ]


def events(logs: Iterable[Path]) -> Counter[str]:
    """Count the warnings and errors in the logs."""

    def lines() -> Iterator[str]:
        for path in logs:
            with path.open(encoding="utf-8", errors="replace") as log:
                yield from (line for line in log if "level='error'" in line or "level='warning'" in line)

    def event(line: str) -> str:
        return line.partition("event=")[2][:60].partition(" ")[0].strip("'\"\n")

    return Counter(event(line) for line in lines())


def slow_pages(waits: Iterable[Wait], seconds: float) -> Faults:
    return [
        f"{wait.url} took {wait.seconds:.1f} s during {wait.stage}, {wait.at:.0f} s after the start: {wait.status}"
        for wait in waits
        if wait.kind == "page" and wait.seconds > seconds
    ]


def errors(waits: Iterable[Wait]) -> Faults:
    """Return the requests that were refused, or failed without a request to try again."""
    odd = Counter((wait.kind, wait.stage, wait.status) for wait in waits if wait.status in UNEXPECTED)
    return [f"{n} of {kind} were answered {status} during {stage}" for (kind, stage, status), n in odd.items()]
