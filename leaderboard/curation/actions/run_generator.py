"""Worker side of previews: run a generator on raw files in the sandbox, and inspect the generated parts one by one.

The worker can read raw files and gold, but not write them: of each part it stores the sha256 and what a preview shows,
never the contents. Parts are inspected separately, so that a worker that dies loses the inspection of one part only,
and pages can show progress.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from django.db import transaction

from evaluator.curation.generators.catalog import OFFERS
from evaluator.jobs.generate import GenerateReport
from evaluator.jsonl.decompress import is_packed
from evaluator.jsonl.tables import FIRST_ROW, table_format
from leaderboard.core.storage import check_digest, opened
from leaderboard.datasets.actions import gold_validation
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import GeneratedPart, Generation, Reason, State
from leaderboard.work_queue.lease import Lease, LeaseLostError
from leaderboard.work_queue.work import NotRetryableError, Urgency, Work

WAITING = Generation.objects.select_related("dataset")
FIRST = 4
"""Number of first lines of a part that a preview shows."""
LONGEST = 20_000
"""Maximum number of characters, as JSON, of a first line's inputs and gold. A preview leaves out longer lines."""
IDENTITIES = ("documentId", "id")
AUDIT_PARTS = ("sizes", "balance")
"""Parts of an audit (`sandbox_client.audit_part`) that a preview shows of each generated part."""
FACTS = ("n_lines", "n_units", "n_groups", "dimensions", "measures", "primary", "warnings")


def _generate(lease: Lease[Generation]) -> None:
    row = lease.row
    if OFFERS.get(row.generator) is None or OFFERS[row.generator].generator.version != row.version:
        raise NotRetryableError(Reason.SUPERSEDED)
    answer = run(row)
    if not _check_ok(lease, answer):
        return
    report, contents = read(answer)
    _store_parts(lease, report, contents, answer.code_sha256)
    for part in row.parts.all():
        if not part.facts and not _looked_at(lease, part, contents[part.name]):
            return
    lease.finish(state=State.DONE)


def run(row: Generation) -> sandbox_client.Answer:
    """Run the preview's generator on its raw files in the sandbox and return the sandbox's answer.

    Raises SandboxError if the sandbox is not available, FileNotFoundError or AlteredError for a raw file that is
    missing or altered.
    """
    sources = list(row.sources.select_related("raw"))
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for index, source in enumerate(sources):
            files[str(index)] = stack.enter_context(opened(source.raw.file))
            check_digest(files[str(index)], source.raw.sha256)
        return sandbox_client.generate(
            files,
            task=row.dataset.task,
            generator=row.generator,
            parameters=row.parameters,
            sources=[(source.role, source.raw.name) for source in sources],
            seed=row.seed,
            salt=row.salt,
        )


def read(answer: sandbox_client.Answer) -> tuple[GenerateReport, dict[str, bytes]]:
    """Return the report of a generator that succeeded, and the gold file of each generated part by the part's name.

    answer: as returned by `run`. Raises ReportError if the report is malformed, or if its numbers of bytes do not add
    up to the size of the attachment.
    """
    report = answer.read(GenerateReport)
    if not report.parts or sum(part.bytes for part in report.parts) != len(answer.attachment):
        raise ReportError(
            f"the report lists {len(report.parts)} parts with {sum(part.bytes for part in report.parts)} bytes and the "
            f"output has {len(answer.attachment)} bytes, expected at least one part and the same number of bytes"
        )
    contents, start = {}, 0
    for part in report.parts:
        contents[part.name] = answer.attachment[start : start + part.bytes]
        start += part.bytes
    return report, contents


def _check_ok(lease: Lease[Generation], answer: sandbox_client.Answer) -> bool:
    """Return True if the sandbox's job succeeded. If files or parameters are invalid, reject the preview, return False.

    The rejected preview stores the problems. Raises NotRetryableError if the job sent no report, for example because it
    took too long.
    """
    if answer.reason:
        raise NotRetryableError(answer.reason)
    if answer.ok:
        return True
    details = {"problems": answer.report.get("problems", []), "more_problems": answer.report.get("more", 0)}
    lease.finish(state=State.REJECTED, reason=Reason.BAD_GOLD, **details)
    return False


def _store_parts(lease: Lease[Generation], report: GenerateReport, contents: Mapping[str, bytes], code: str) -> None:
    """Store the names, sizes and digests of the generated parts, without their contents.

    contents: the gold file of each part by the part's name. code: digest of the evaluator's code that generated them.
    If an earlier attempt with the same code has stored identical parts, they are kept, so that parts already inspected
    are skipped.
    """
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    with transaction.atomic():
        lease.write(report={"result": report.result, "text": report.text}, code_sha256=code)
        stored = dict(lease.row.parts.values_list("name", "sha256"))
        if stored == digests and lease.row.code_sha256 == code:
            return
        lease.row.parts.all().delete()
        for index, (name, content) in enumerate(contents.items()):
            GeneratedPart.objects.create(
                generation=lease.row, index=index, name=name, sha256=digests[name], bytes=len(content)
            )


def _looked_at(lease: Lease[Generation], part: GeneratedPart, content: bytes) -> bool:
    """Inspect a part, and store what a preview shows of it: FACTS such as counts, tables of AUDIT_PARTS, first lines.

    `test_problems` are the reasons why a draft of the part is refused unless it is a train split. Return False, after
    the preview is rejected, if the part is not valid gold.
    """
    row = lease.row
    params: dict[str, Any] = {"task": row.dataset.task, "gold_name": f"{part.name}.jsonl", "options": row.options}
    with temporary_file(content) as file:
        prepared = sandbox_client.prepare_gold({"gold": file}, **params)
        if not prepared.ok and OFFERS[row.generator].keeps_lines:
            prepared.report["problems"] = _locate_in_raw_file(row, content, prepared.report.get("problems", []))
        if not _check_ok(lease, prepared):
            return False
        dimensions = prepared.report["dimensions"]
        if problems := gold_validation.length_problems(dimensions, params["gold_name"]):
            most = gold_validation.MAX_SHOWN_PROBLEMS
            lease.finish(
                state=State.REJECTED,
                reason=Reason.BAD_GOLD,
                problems=problems[:most],
                more_problems=max(0, len(problems) - most),
            )
            return False
        test_problems = gold_validation.test_gold_problems(row.dataset.task, file, params["gold_name"], dimensions)
        tables: dict[str, Any] = {}
        for name in AUDIT_PARTS:
            answer = sandbox_client.audit_part({"gold": file}, part=name, **params)
            if not _check_ok(lease, answer):
                return False
            tables |= answer.report.get("part", {}).get("keys", {})
    facts = {name: prepared.report[name] for name in FACTS} | {name: tables.get(name, []) for name in AUDIT_PARTS}
    facts["test_problems"] = test_problems[: gold_validation.MAX_SHOWN_PROBLEMS]
    facts["inputs_sha256"] = hashlib.sha256(prepared.attachment).hexdigest()
    facts["inputs_bytes"] = len(prepared.attachment)
    with transaction.atomic():
        if not lease.rows().exists():
            raise LeaseLostError
        GeneratedPart.objects.filter(pk=part.pk).update(facts=facts, first=_first_pairs(content, prepared.attachment))
    return True


def _locate_in_raw_file(row: Generation, content: bytes, problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a part's problems, located in the raw file, because that is the file which the user can correct.

    The file name and line number of each problem become those of the equal line in the raw file. A problem whose line
    is not in the raw file is not changed. A table has rows instead of lines. content: the part's gold file. For a
    generator that copies lines unchanged. Raises SandboxError.
    """
    source = row.sources.select_related("raw").get()
    lines = content.split(b"\n")
    invalid_lines = {
        lines[problem["line"] - 1] for problem in problems if problem.get("line") and problem["line"] <= len(lines)
    }
    line_numbers: dict[bytes, int] = {}
    name = source.raw.name
    with opened(source.raw.file) as file:
        stream: Iterable[bytes] = gzip.GzipFile(fileobj=file) if is_packed(name) else file
        is_table = bool(table_format(name))
        if is_table:
            table = sandbox_client.read_table({"gold": file}, task=row.dataset.task, gold_name=name, is_gold=False)
            stream = table.attachment.splitlines() if table.ok else []
        for number, raw in enumerate(stream, start=FIRST_ROW if is_table else 1):
            if (line := raw.rstrip(b"\r\n")) in invalid_lines:
                line_numbers.setdefault(line, number)
    relocated = []
    for problem in problems:
        line_number = (
            line_numbers.get(lines[problem["line"] - 1])
            if problem.get("line") and problem["line"] <= len(lines)
            else None
        )
        relocated.append(problem if line_number is None else _relocate(problem, source.raw.name, line_number))
    return sorted(relocated, key=lambda problem: problem.get("line") or 0)


def _relocate(problem: dict[str, Any], file: str, line: int) -> dict[str, Any]:
    prefix = f"{problem['file']}:{problem['line']}: "
    return {**problem, "file": file, "line": line, "text": f"{file}:{line}: {problem['text'].removeprefix(prefix)}"}


def _first_pairs(gold: bytes, inputs: bytes) -> list[list[Any]]:
    """Return [input line, gold line], decoded from JSON, for each of the first FIRST lines of a part's inputs.

    The two lines have the same item id; the gold line is None if there is none. A pair of more than LONGEST characters
    is left out. gold, inputs: contents of the two JSON Lines files.
    """
    public = [json.loads(line) for line, _ in zip(io.BytesIO(inputs), range(FIRST), strict=False)]
    ids = {_identity(line) for line in public}
    gold_lines: dict[str, Any] = {}
    for line in io.BytesIO(gold):
        value = json.loads(line)
        if (identity := _identity(value)) in ids:
            gold_lines[identity] = value
        if len(gold_lines) == len(ids):
            break
    pairs = [[line, gold_lines.get(_identity(line))] for line in public]
    return [pair for pair in pairs if len(json.dumps(pair)) <= LONGEST]


@contextmanager
def temporary_file(content: bytes) -> Iterator[IO[bytes]]:
    """Yield an open unnamed temporary file with this content."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def _identity(line: dict[str, Any]) -> str:
    """Return the id of an item as JSON text, so that the ids 1 and "1" are different; `null` if there is no id."""
    return json.dumps(next((line[name] for name in IDENTITIES if name in line), None))


WORK = Work(name="generate", rows=WAITING, do=_generate, urgency=Urgency.CURATION)
