"""Audits of the tiny split for tests: reports that are computed in this process, and rows with them."""

from __future__ import annotations

import functools
import io
import json
from typing import Any

from django.utils import timezone

from evaluator.curation.audit.report import assembled
from evaluator.jobs import JOBS
from evaluator.jobs.audit import NAMES
from leaderboard.models import GoldVersion, SplitAudit, State
from tests.support.rows.tiny_world import TASK, gold_lines


@functools.cache
def _report(gold: bytes) -> str:
    arguments = {"task": TASK, "gold_name": "test.gold.jsonl", "train_names": []}
    sections = [JOBS["audit_part"]({"gold": io.BytesIO(gold)}, arguments | {"part": name})[0]["part"] for name in NAMES]
    return json.dumps(assembled(sections))


def report(gold: bytes = b"") -> dict[str, Any]:
    """Return the report on the tiny gold, with warnings about few groups and few claims."""
    return dict(json.loads(_report(gold or gold_lines())))


def done(gold: GoldVersion, **changes: Any) -> SplitAudit:
    """Insert a finished audit."""
    at = timezone.now()
    fields = {"state": State.DONE, "finished_at": at, "report": report(), "queued_at": at, "enqueued_at": at}
    return SplitAudit.objects.create(gold=gold, inputs_sha256=gold.split.inputs_sha256, **{**fields, **changes})
