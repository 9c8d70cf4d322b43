"""Sandbox job that generates splits from raw files, with the generators of the command line but in-memory files."""

from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.generators.catalog import OFFERS, generators_for, namespace
from evaluator.curation.generators.memory_workspace import MemoryWorkspace
from evaluator.errors import GoldError, ProblemList, UsageError
from evaluator.jobs.base import SEED, Files, Report, Request
from evaluator.tasks.registry import find_task


class GenerateRequest(Request, frozen=True, kw_only=True):
    """Arguments of `generate`.

    task, generator: their names; parameters: name -> text, as a form sends it; sources: for each of the files "0",
    "1"..., (its role in the generator, its name); salt: the secret from which ids are generated.
    """

    job = "generate"
    task: str
    generator: str
    parameters: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    seed: int = SEED
    salt: str = ""


class GeneratedPart(msgspec.Struct, forbid_unknown_fields=True):
    """One generated split. bytes: its size in the attachment."""

    name: str
    bytes: int


class GenerateReport(Report):
    """Result of `generate`.

    version: the generator's version; parts: the generated splits, in the order in which the attachment has them;
    result: the generator's report, which quotes gold; text: the same report as text.
    """

    version: int
    parts: list[GeneratedPart]
    result: dict[str, Any]
    text: str


def generate(files: Files, request: GenerateRequest) -> tuple[GenerateReport, bytes]:
    """Generate gold of one or more splits; the attachment is their concatenation.

    files: the raw files as "0", "1"... in the order of `sources`. Raises UsageError for a generator that does not exist
    or makes no gold of the task, and GoldError if the generator made no gold.
    """
    find_task(request.task)
    offer = OFFERS.get(request.generator)
    if offer is None or (offer.tasks and request.task not in offer.tasks):
        known = ", ".join(other.name for other in generators_for(request.task))
        raise UsageError(f"the task {request.task} has no generator {request.generator!r}; expected one of: {known}")
    roles: dict[str, list[Path]] = {}
    streams: dict[Path, BinaryIO] = {}
    names = [name for _, name in request.sources]
    for index, (role, name) in enumerate(request.sources):
        # Files with the same name get distinct paths.
        path = Path(name) if names.count(name) == 1 else Path(str(index + 1)) / name
        roles.setdefault(role, []).append(path)
        streams[path] = files[str(index)]
    arguments = namespace(offer, request.parameters, roles, seed=request.seed, salt=request.salt)
    with MemoryWorkspace(streams) as bench:
        generated = offer.generator.make(arguments, bench)
        outputs = bench.outputs()
    parts = {output: name for output, name in offer.parts(list(outputs)).items() if outputs[output]}
    if not parts:
        problems = ProblemList(names[0] if names else "", GoldError)
        problems.stop(None, "no gold was made", generated.text.partition("\n")[0], "one line of gold or more")
    report = GenerateReport(
        version=offer.generator.version,
        parts=[GeneratedPart(name, len(outputs[output])) for output, name in parts.items()],
        result=generated.report,
        text=generated.text,
    )
    return report, b"".join(outputs[output] for output in parts)
