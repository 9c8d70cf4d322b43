"""A generator at work: run in the sandbox on raw files, its parts looked at one by one, their bytes kept nowhere.

The worker reads raw files as it reads gold, and writes none: of the parts it keeps what a preview shows, and their
sha256. Each is looked at by itself: a worker that dies loses one, and who waits sees how far it is.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from django.db import transaction

from evaluator.curation.generators.catalog import OFFERS
from evaluator.jobs.generate import GenerateReport
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import GeneratedPart, Generation, Reason, State
from leaderboard.work_queue.lease import Lease, LeaseLostError
from leaderboard.work_queue.work import NoAnswerError, Work

WAITING = Generation.objects.select_related("dataset")
FIRST = 4
"""Lines of a part that a preview shows."""
LONGEST = 20_000
"""Characters of a line that a preview keeps."""
IDENTITIES = ("documentId", "id")
LOOKED_AT = ("sizes", "balance")
"""Parts of an audit that a preview shows."""
FACTS = ("n_lines", "n_units", "n_groups", "dimensions", "measures", "primary", "warnings")


def _generate(lease: Lease[Generation]) -> None:
    row = lease.row
    if OFFERS.get(row.generator) is None or OFFERS[row.generator].generator.version != row.version:
        raise NoAnswerError(Reason.SUPERSEDED)
    answer = run(row)
    if not _went_through(lease, answer):
        return
    told, contents = read(answer)
    _keep(lease, told, contents, answer.code_sha256)
    for part in row.parts.all():
        if not part.facts and not _looked_at(lease, part, contents[part.name]):
            return
    lease.finish(state=State.DONE)


def run(row: Generation) -> sandbox_client.Answer:
    """The generator on its raw files, in the sandbox. Raises SandboxError, FileNotFoundError, AlteredError."""
    sources = list(row.sources.select_related("raw"))
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for place, source in enumerate(sources):
            files[str(place)] = stack.enter_context(opened(source.raw.file))
            check_digest(files[str(place)], source.raw.sha256)
        return sandbox_client.generate(
            task=row.dataset.task,
            generator=row.generator,
            parameters=row.parameters,
            sources=[(source.role, source.raw.name) for source in sources],
            files=files,
            seed=row.seed,
            salt=row.salt,
        )


def read(answer: sandbox_client.Answer) -> tuple[GenerateReport, dict[str, bytes]]:
    """What a generator that went through told, and its parts by name. Raises ReportError."""
    told = answer.read(GenerateReport)
    if not told.parts or sum(part.bytes for part in told.parts) != len(answer.attachment):
        raise ReportError("the parts do not add up")
    contents, begin_at = {}, 0
    for part in told.parts:
        contents[part.name] = answer.attachment[begin_at : begin_at + part.bytes]
        begin_at += part.bytes
    return told, contents


def _went_through(lease: Lease[Generation], answer: sandbox_client.Answer) -> bool:
    """Files and parameters at fault end the work; their problems are kept. Raises NoAnswerError where none is told."""
    if answer.reason:
        raise NoAnswerError(answer.reason)
    if answer.ok:
        return True
    told = {"problems": answer.report.get("problems", []), "more_problems": answer.report.get("more", 0)}
    lease.finish(state=State.REJECTED, reason=Reason.BAD_GOLD, **told)
    return False


def _keep(lease: Lease[Generation], told: GenerateReport, contents: Mapping[str, bytes], code: str) -> None:
    """All parts, once. What an earlier attempt kept stays where it is the same: only what is missing is looked at."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    with transaction.atomic():
        lease.write(report={"told": told.told, "text": told.text}, code_sha256=code)
        there = dict(lease.row.parts.values_list("name", "sha256"))
        if there == digests and lease.row.code_sha256 == code:
            return
        lease.row.parts.all().delete()
        for place, (name, content) in enumerate(contents.items()):
            GeneratedPart.objects.create(
                generation=lease.row, place=place, name=name, sha256=digests[name], bytes=len(content)
            )


def _looked_at(lease: Lease[Generation], part: GeneratedPart, content: bytes) -> bool:
    """Whether the part is gold of the task; keeps what is in it, and its first lines."""
    row = lease.row
    asked: dict[str, Any] = {"task": row.dataset.task, "name": f"{part.name}.jsonl", "options": row.options}
    with unnamed(content) as file:
        prepared = sandbox_client.prepare_gold(gold=file, **asked)
        if not prepared.ok and OFFERS[row.generator].keeps_lines:
            prepared.report["problems"] = _in_raw_file(row, content, prepared.report.get("problems", []))
        if not _went_through(lease, prepared):
            return False
        told: dict[str, Any] = {}
        for name in LOOKED_AT:
            answer = sandbox_client.gold_part(part=name, gold=file, **asked)
            if not _went_through(lease, answer):
                return False
            told |= answer.report.get("told", {}).get("keys", {})
    facts = {name: prepared.report[name] for name in FACTS} | {name: told.get(name, []) for name in LOOKED_AT}
    facts["inputs_sha256"] = hashlib.sha256(prepared.attachment).hexdigest()
    facts["inputs_bytes"] = len(prepared.attachment)
    with transaction.atomic():
        if not lease.rows().exists():
            raise LeaseLostError
        GeneratedPart.objects.filter(pk=part.pk).update(facts=facts, first=_first(content, prepared.attachment))
    return True


def _in_raw_file(row: Generation, content: bytes, problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems of a part's lines, told where the same lines stand in the raw file: that is the file to be mended."""
    source = row.sources.select_related("raw").get()
    lines = content.split(b"\n")
    at_fault = {lines[one["line"] - 1] for one in problems if one.get("line") and one["line"] <= len(lines)}
    places: dict[bytes, int] = {}
    with opened(source.raw.file) as file:
        stream = gzip.GzipFile(fileobj=file) if source.raw.name.endswith(".gz") else file
        for number, raw in enumerate(stream, start=1):
            if (line := raw.rstrip(b"\r\n")) in at_fault:
                places.setdefault(line, number)
    told = []
    for one in problems:
        place = places.get(lines[one["line"] - 1]) if one.get("line") and one["line"] <= len(lines) else None
        told.append(one if place is None else _moved(one, source.raw.name, place))
    return sorted(told, key=lambda one: one.get("line") or 0)


def _moved(problem: dict[str, Any], file: str, line: int) -> dict[str, Any]:
    begins = f"{problem['file']}:{problem['line']}: "
    return {**problem, "file": file, "line": line, "text": f"{file}:{line}: {problem['text'].removeprefix(begins)}"}


def _first(gold: bytes, inputs: bytes) -> list[list[Any]]:
    """[inputs, gold] of the first lines that the public would get; gold is matched by identity."""
    public = [json.loads(line) for line, _ in zip(io.BytesIO(inputs), range(FIRST), strict=False)]
    wanted = {_identity(line) for line in public}
    found: dict[str, Any] = {}
    for line in io.BytesIO(gold):
        value = json.loads(line)
        if (identity := _identity(value)) in wanted:
            found[identity] = value
        if len(found) == len(wanted):
            break
    pairs = [[line, found.get(_identity(line))] for line in public]
    return [pair for pair in pairs if len(json.dumps(pair)) <= LONGEST]


@contextmanager
def unnamed(content: bytes) -> Iterator[IO[bytes]]:
    """Bytes as a file that has a descriptor and no name; nothing of it is left."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def _identity(line: dict[str, Any]) -> str:
    """As JSON, for 1 and "1" are two items."""
    return json.dumps(next((line[name] for name in IDENTITIES if name in line), None))


WORK = Work(name="generate", rows=WAITING, do=_generate, makes_way=True)
