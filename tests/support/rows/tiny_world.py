"""A small set of rows for tests: a hidden symmetric split with four claims, a phase, a team and its system.

`world.submit` uses the real action, with the real sandbox.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.utils import timezone

from evaluator.jobs import JOBS
from leaderboard.accounts.actions import teams
from leaderboard.models import (
    Benchmark,
    Dataset,
    GoldVersion,
    Phase,
    Prediction,
    QuotaCharge,
    Run,
    Split,
    State,
    Submission,
    System,
    User,
)
from leaderboard.submissions.actions import submit as submissions

TASK = "fact-verification"
LABELS = {"a1": "SUPPORTS", "a2": "REFUTES", "a3": "REFUTES", "a4": "SUPPORTS"}


def gold_lines(labels: dict[str, str] = LABELS) -> bytes:
    """Return a gold file with four claims of one group."""
    return b"".join(
        json.dumps(
            {
                "id": id_,
                "claim": f"claim {index // 2}",
                "evidence_text": f"evidence {index % 2}",
                "label": label,
                "group": "g1",
                "slices": {"origin": "original" if index == 0 else "generated"},
            }
        ).encode()
        + b"\n"
        for index, (id_, label) in enumerate(labels.items())
    )


def prediction_lines(labels: dict[str, str] = LABELS) -> bytes:
    return b"".join(json.dumps({"id": i, "predicted_label": label}).encode() + b"\n" for i, label in labels.items())


def uploaded(content: bytes, name: str = "predictions.jsonl") -> TemporaryUploadedFile:
    """Return a file like one from the upload handler: on disk, with its sha256."""
    file = TemporaryUploadedFile(name, "application/octet-stream", len(content), None)
    file.write(content)
    file.seek(0)
    file.sha256 = hashlib.sha256(content).hexdigest()  # type: ignore[attr-defined]
    return file


def published() -> dict[str, Any]:
    """Return the fields of a published split."""
    return {"state": Split.State.PUBLISHED, "published_at": timezone.now()}


EXACT = {"exact_scores": True, "least_groups": 1, "detailed_answers": None}
"""Fields of a phase whose scores on hidden gold are shown with all digits, slices and intervals.

Most tests are about other things, and their gold has a handful of groups: rounded to the noise, all its scores would be
multiples of .1, and no slice would be shown. tests/leaderboard/boards/disclosure tests what other phases show.
"""
DRAFT = {"state": Split.State.DRAFT, "published_at": None}


@dataclass
class World:
    """Rows that belong together."""

    curator: User
    researcher: User
    benchmark: Benchmark
    phase: Phase
    split: Split
    gold: GoldVersion
    system: System

    def in_another_request(self) -> World:
        """Return the world with the phase fetched anew: simultaneous requests do not share open files of its split."""
        return replace(self, phase=Phase.objects.get(pk=self.phase.pk))

    def entry(self, *, system: System | None = None, **changes: Any) -> submissions.Entry:
        return submissions.Entry(**{"system": system or self.system, "by": self.researcher, **changes})

    def submit(
        self,
        labels: dict[str, str] = LABELS,
        *,
        phase: Phase | None = None,
        file: TemporaryUploadedFile | None = None,
        **changes: Any,
    ) -> Submission:
        """Submit a file, or else a file with these labels. changes: of `entry`."""
        with file or uploaded(prediction_lines(labels)) as content:
            return submissions.submit(phase=phase or self.phase, entry=self.entry(**changes), file=content).submission

    def insert_run(
        self,
        *,
        state: str = State.QUEUED,
        at: datetime | None = None,
        system: System | None = None,
        track: str = "",
        **changes: Any,
    ) -> Run:
        """Insert a run with all rows that it depends on."""
        at = at or timezone.now()
        content = prediction_lines()
        submission = Submission.objects.create(
            phase=self.phase, system=system or self.system, track=track, submitted_by=self.researcher, received_at=at
        )
        QuotaCharge.objects.create(submission=submission, phase=self.phase, team=self.system.team, charged_at=at)
        prediction = Prediction(
            submission=submission,
            name="predictions.jsonl",
            sha256=hashlib.sha256(content).hexdigest(),
            bytes=len(content),
            inputs_sha256=self.split.inputs_sha256,
            state=State.DONE,
            queued_at=at,
            finished_at=at,
        )
        prediction.file.save("predictions.jsonl", ContentFile(content), save=False)
        prediction.save()
        fields = {"task_version": 1, "queued_at": at, "enqueued_at": at, "state": state, **changes}
        return Run.objects.create(prediction=prediction, gold_version=self.gold, **fields)


def build(*, quota_per_day: int = 5, quota_total: int = 100, gold_content: bytes | None = None) -> World:
    """Insert the rows that `splits.add_gold` would write, without the sandbox."""
    content = gold_lines() if gold_content is None else gold_content
    curator = User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)
    researcher = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    dataset = Dataset.objects.create(slug="tiny", title="Tiny", task=TASK)
    split = Split(dataset=dataset, name="test", kind=Split.Kind.TEST, **published())
    # In this process instead of the sandbox's child.
    report, inputs = JOBS["prepare_gold"]({"gold": io.BytesIO(content)}, {"task": TASK, "gold_name": "gold.jsonl"})
    split.inputs_sha256 = hashlib.sha256(inputs).hexdigest()
    split.inputs_bytes = len(inputs)
    split.inputs.save("inputs.jsonl", ContentFile(inputs), save=False)
    split.save()
    gold = GoldVersion(
        split=split,
        number=1,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        **{name: report[name] for name in ("n_lines", "n_units", "n_groups", "dimensions", "measures", "primary")},
        expects=report["expects"],
        reason="first",
        created_by=curator,
    )
    gold.file.save("gold.jsonl", ContentFile(content), save=False)
    gold.save()
    benchmark = Benchmark.objects.create(
        slug="tiny", title="Tiny claims", summary="Four claims.", task=TASK, dataset=dataset, state="public"
    )
    phase = Phase.objects.create(
        benchmark=benchmark,
        slug="test",
        title="Test",
        split=split,
        quota_per_day=quota_per_day,
        quota_total=quota_total,
        **EXACT,
    )
    team = teams.create(name="Analytical Engines", by=researcher)
    system = teams.system(team=team, name="Bernoulli", by=researcher)
    return World(curator, researcher, benchmark, phase, split, gold, system)


__all__ = ["DRAFT", "LABELS", "World", "build", "gold_lines", "prediction_lines", "published", "uploaded"]

TOLD_IN_FULL = {
    **{"disclosure": "full", "scope": "team", "finals_per_team": 1},
    **{"least_groups": 25, "detailed_answers": 10, "afterwards": "overall"},
}
"""The default disclosure fields in the form of a phase."""
