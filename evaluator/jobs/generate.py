"""The sandbox's job that makes splits of raw files: the generators of the command line, on streams."""

from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.generators.catalog import OFFERS, namespace
from evaluator.curation.generators.memory_workspace import MemoryBench
from evaluator.errors import UsageError
from evaluator.jobs.base import SEED, Files, Report, Request
from evaluator.tasks.registry import find_task


class GenerateRequest(Request, frozen=True, kw_only=True):
    """parameters: texts, as a form has them. sources: (what it is to the generator, its name) of each file."""

    job = "generate"
    task: str
    generator: str
    parameters: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    seed: int = SEED
    salt: str = ""


class GeneratedPart(msgspec.Struct, forbid_unknown_fields=True):
    """One split. bytes: its size in the attachment."""

    name: str
    bytes: int


class GenerateReport(Report):
    """told: the generator's report, which quotes gold. text: the same in words."""

    version: int
    parts: list[GeneratedPart]
    told: dict[str, Any]
    text: str


def generate(files: Files, request: GenerateRequest) -> tuple[GenerateReport, bytes]:
    """Gold of one or more splits; the attachment is all of it, one part behind the other. files: "0", "1"..."""
    find_task(request.task)
    offer = OFFERS.get(request.generator)
    if offer is None or (offer.tasks and request.task not in offer.tasks):
        raise UsageError(f"generator is {request.generator!r}, expected one that makes gold of {request.task}")
    roles: dict[str, list[Path]] = {}
    streams: dict[Path, BinaryIO] = {}
    names = [name for _, name in request.sources]
    for index, (role, name) in enumerate(request.sources):
        # Two files of one name stay apart.
        path = Path(name) if names.count(name) == 1 else Path(str(index + 1)) / name
        roles.setdefault(role, []).append(path)
        streams[path] = files[str(index)]
    given = namespace(offer, request.parameters, roles, seed=request.seed, salt=request.salt)
    with MemoryBench(streams) as bench:
        made = offer.generator.make(given, bench)
        outputs = bench.outputs()
    parts = {output: name for output, name in offer.parts(list(outputs)).items() if outputs[output]}
    report = GenerateReport(
        version=offer.generator.version,
        parts=[GeneratedPart(name, len(outputs[output])) for output, name in parts.items()],
        told=made.report,
        text=made.text,
    )
    return report, b"".join(outputs[output] for output in parts)
