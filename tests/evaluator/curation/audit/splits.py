"""Small splits of every task for tests of the audit, read as the command reads them."""

from __future__ import annotations

import io
import json
import random
from typing import Any

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.reading import read_split
from evaluator.curation.audit.report import AuditContext, audit
from evaluator.tasks.registry import find_task


def stream(lines: list[dict[str, Any]]) -> io.BytesIO:
    return io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())


def split(task: str, lines: list[dict[str, Any]], file: str = "gold.jsonl", **options: str) -> AuditedSplit:
    task_ = find_task(task)
    return read_split(task_, stream(lines), file, task_.parse_options(options))


def audited(one: AuditedSplit, **context: Any) -> dict[str, Any]:
    return audit(one, AuditContext(**context), one.task.parse_options({}))


def codes(report: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in report["findings"]}


def claims(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Claims without cues: words, labels and ids are sampled independently."""
    rng = random.Random(seed)
    return [
        {
            "id": f"{rng.getrandbits(64):016x}",
            "claim": " ".join(f"w{rng.randrange(400)}" for _ in range(8)),
            "label": rng.choice(["SUPPORTS", "REFUTES"]),
        }
        for _ in range(n)
    ]


def facts(n: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {
            "id": f"{rng.getrandbits(64):016x}",
            "subject": f"s{seed}-{i}",
            "relation": "r",
            "object": f"o{seed}-{i}",
            "label": rng.random() < 0.5,
        }
        for i in range(n)
    ]


def document(name: str, text: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """A document whose only passage is the whole text, annotated for property 1."""
    passage = {
        "passageId": f"{name}:0:{len(text)}",
        "passageStart": 0,
        "passageEnd": len(text),
        "passageText": text,
        "exhaustivelyAnnotatedProperties": [{"propertyId": "1", "propertyName": "CEO"}],
        "facts": found,
    }
    return {"documentId": name, "documentText": text, "passages": [passage]}


def fact(subject: tuple[int, int], object_: tuple[int, int], **more: Any) -> dict[str, Any]:
    spans = dict(zip(("subjectStart", "subjectEnd", "objectStart", "objectEnd"), (*subject, *object_), strict=True))
    return {"propertyId": "1", "subjectUri": "Q1", "objectUri": "Q2", **spans, **more}
