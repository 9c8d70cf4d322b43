"""The teaser picture of a benchmark. The sandbox encodes it anew, so that the site shows no file as it was uploaded."""

from __future__ import annotations

import hashlib

from django.core.files import File
from django.core.files.base import ContentFile
from django.db import transaction

from evaluator.jobs.picture import PictureReport
from leaderboard.core import validation
from leaderboard.core.names.names import check_signs
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.storage import delete_after_commit, deleted_on_failure
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Benchmark, Teaser, User

MOST_BYTES = 8_000_000
_FAILURE = "The picture could not be checked"
_HEADING = "The picture was not accepted"


def put(*, benchmark: Benchmark, file: File[bytes], alternative_text: str, by: User) -> Teaser:
    """Store a picture, which replaces the benchmark's former one.

    Raises Refused: NOT_AN_ORGANISER; TOO_LARGE; INVALID_VALUE for an invalid text, and for a file that is not a PNG,
    JPEG or WebP picture of a suitable size; SANDBOX_UNAVAILABLE.
    """
    check_manages(benchmark, by)
    report, content = _encoded(file)
    teaser = Teaser(
        benchmark=benchmark,
        media_type=report.media_type,
        width=report.width,
        height=report.height,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        alternative_text=_checked(alternative_text),
    )
    teaser.file.save("picture", ContentFile(content), save=False)
    with deleted_on_failure(teaser.file.storage, str(teaser.file.name)), transaction.atomic():
        locked = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
        _remove(locked)
        validation.check(teaser)
        teaser.save(force_insert=True)
        AuditEntry.record("benchmark.picture_changed", locked, by=by, sha256=teaser.sha256)
    return teaser


@transaction.atomic
def describe(*, benchmark: Benchmark, alternative_text: str, by: User) -> None:
    """Replace the alternative text of the benchmark's picture. Does nothing if there is no picture.

    Raises Refused: NOT_AN_ORGANISER, INVALID_VALUE.
    """
    check_manages(benchmark, by)
    if Teaser.objects.filter(benchmark=benchmark).update(alternative_text=_checked(alternative_text)):
        AuditEntry.record("benchmark.picture_changed", benchmark, by=by)


@transaction.atomic
def remove(*, benchmark: Benchmark, by: User) -> bool:
    """Remove the benchmark's picture, and return whether there was one. Raises Refused NOT_AN_ORGANISER."""
    check_manages(benchmark, by)
    locked = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    if not _remove(locked):
        return False
    AuditEntry.record("benchmark.picture_removed", locked, by=by)
    return True


def _remove(benchmark: Benchmark) -> bool:
    former = Teaser.objects.filter(benchmark=benchmark).first()
    if former is None:
        return False
    delete_after_commit(former.file)
    former.delete()
    return True


def _checked(alternative_text: str) -> str:
    text = " ".join(alternative_text.split())
    check_signs(text, of="description")
    if not 1 <= len(text) <= 300:
        raise Refused(
            Code.INVALID_VALUE,
            f"The description has {len(text)} characters; expected 1 to 300.",
            field_name="alternative_text",
        )
    return text


def _encoded(file: File[bytes]) -> tuple[PictureReport, bytes]:
    """Let the sandbox encode an uploaded picture anew; return its report and the bytes of the new file.

    Raises Refused: TOO_LARGE; INVALID_VALUE for a file that is not a suitable picture; SANDBOX_UNAVAILABLE.
    """
    if file.size > MOST_BYTES:
        size = f"{file.size / 1e6:.1f}"
        message = f"The picture has {size} MB; expected at most {MOST_BYTES // 1_000_000} MB."
        raise Refused(Code.TOO_LARGE, message, heading=_HEADING, field_name="file")
    assert file.file is not None, "an uploaded file is open"
    try:
        answer = sandbox_client.reencode_picture({"picture": file.file})
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(_FAILURE, error) from error
    if not answer.ok:
        found = answer.report["problems"][0]["text"] if not answer.reason else "it exceeds the limits of the sandbox"
        message = f"{found[0].upper()}{found[1:]}."
        raise Refused(Code.INVALID_VALUE, message, heading=_HEADING, field_name="file")
    return answer.read(PictureReport), answer.attachment
