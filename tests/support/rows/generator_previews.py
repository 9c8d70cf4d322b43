"""Raw files and previews of the tiny dataset for tests, as the management pages and a worker store them."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from evaluator.jobs import JOBS
from leaderboard.models import GeneratedFrom, GeneratedPart, Generation, RawFile, RawUpload, State, User
from tests.support.rows.tiny_world import TASK, World, gold_lines


def claims(n: int = 8, word: str = "claim") -> bytes:
    """Return gold lines of claims, each in its own group, half of them supported."""
    lines = (
        f'{{"id": "r{i}", "claim": "{word} {i}", "evidence_text": "text {i}", '
        f'"label": "{("SUPPORTS", "REFUTES")[i % 2]}", "group": "g{i}"}}\n'
        for i in range(n)
    )
    return "".join(lines).encode()


def raw(world: World, content: bytes = b"", name: str = "raw.jsonl") -> RawFile:
    content = content or claims()
    file = RawFile(
        dataset=world.split.dataset,
        name=name,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        uploaded_by=world.curator,
        uploaded_at=timezone.now(),
    )
    file.file.save(name, ContentFile(content), save=False)
    file.save()
    return file


def upload(world: World, by: User, size: int = 5, **changes: Any) -> RawUpload:
    return RawUpload.objects.create(dataset=world.split.dataset, by=by, name="raw.jsonl", bytes=size, **changes)


def done(world: World, file: RawFile | None = None) -> Generation:
    """Insert a finished preview of the generator `as-it-is`."""
    file, at = file or raw(world), timezone.now()
    with file.file.open("rb") as stored:
        content = stored.read()
    generation = Generation.objects.create(
        dataset=world.split.dataset,
        generator="as-it-is",
        version=1,
        seed=1,
        salt="s" * 32,
        report={"leaks": [], "text": "all of it"},
        state=State.DONE,
        queued_at=at,
        enqueued_at=at,
        finished_at=at,
        requested_by=world.curator,
    )
    GeneratedFrom.objects.create(generation=generation, raw=file, role="gold", index=0)
    prepared, _ = JOBS["prepare_gold"]({"gold": io.BytesIO(gold_lines())}, {"task": TASK, "gold_name": "gold.jsonl"})
    names = ("n_lines", "n_units", "n_groups", "primary", "warnings")
    GeneratedPart.objects.create(
        generation=generation,
        index=0,
        name="test",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        facts={name: prepared[name] for name in names} | {"inputs_bytes": 1},
        first=[[{"id": "a1"}, {"id": "a1", "label": "SUPPORTS"}]],
    )
    return generation
