"""Contents of the parts that a preview's generator makes.

They are not stored, but generated again and checked against the digests that the preview stores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from django.core.files.uploadedfile import TemporaryUploadedFile

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError
from leaderboard.curation.actions import run_generator
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Generation, State

log = structlog.get_logger(__name__)


def regenerate(generation: Generation) -> dict[str, bytes]:
    """Generate the parts of a preview again. Return the gold file of each part by the part's name.

    The contents have the same sha256 as in the preview. Raises Refused: NOT_READY for an unfinished preview, a raw file
    that is missing or altered, or parts that differ from the preview; SANDBOX_UNAVAILABLE.
    """
    if generation.state != State.DONE:
        raise Refused(Code.NOT_READY, "The preview is not done yet; use its parts when it is done.")
    try:
        answer = run_generator.run(generation)
        _, contents = run_generator.read(answer) if answer.ok else (None, {})
    except (sandbox_client.SandboxError, ReportError) as error:
        raise sandbox_client.unavailable("The parts could not be made", error) from error
    except (FileNotFoundError, AlteredError) as error:
        log.error("stored_file_unusable", kind="generate", id=str(generation.pk), error=type(error).__name__)
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "A raw file of this preview is missing or altered; upload it again and make a new preview.",
        ) from error
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    if digests != dict(generation.parts.values_list("name", "sha256")):
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "The parts that the generator makes now differ from those of the preview, probably because the server was "
            "upgraded since. Make a new preview.",
        )
    return contents


@contextmanager
def as_upload(content: bytes, name: str = "gold.jsonl") -> Iterator[TemporaryUploadedFile]:
    """Yield `content` as a temporary uploaded file of the given name, as if a user had sent it."""
    with TemporaryUploadedFile(name, "application/x-ndjson", len(content), None) as file:
        file.write(content)
        file.seek(0)
        yield file
