"""Storage and retention of image archives. The archives of images that were run are kept, to run them again.

An archive that turns out not to be an image is deleted when its prediction is rejected. An archive that was never
submitted is deleted after RETENTION. `image_cache` decides how long an engine keeps a loaded image, which can be loaded
from its archive again.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.core.files.base import File
from django.db import transaction

from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import delete_after_commit
from leaderboard.models import AuditEntry, Image, Prediction, Reason, State
from leaderboard.models.image import RETENTION


def get_or_store(*, archive: File[bytes], sha256: str) -> Image:
    """Return the Image of an archive; create it if no archive with the digest `sha256` was stored before.

    sha256: hexadecimal SHA-256 of the archive's bytes. If the stored archive was deleted (after a rejection) or lost,
    `archive` is stored again.
    """
    existing = Image.objects.filter(archive_sha256=sha256).first()
    if existing is not None and _is_stored(existing):
        return existing
    new = Image(archive_sha256=sha256, archive_bytes=archive.size)
    new.archive.save("image.tar", archive, save=False)
    stored = str(new.archive.name)
    image, created = Image.objects.get_or_create(
        archive_sha256=sha256, defaults={"archive": stored, "archive_bytes": archive.size}
    )
    if created:
        return image
    if not _is_stored(image) and Image.objects.filter(pk=image.pk, archive=image.archive.name).update(archive=stored):
        image.archive.name = stored
        return image
    new.archive.storage.delete(stored)
    image.refresh_from_db()
    return image


def check_stored(image: Image) -> None:
    """Lock an image's row until the transaction ends, so that nobody deletes its archive meanwhile.

    Raises Refused UPLOAD_GONE if the image or its archive has already been deleted.
    """
    held = Image.objects.select_for_update().filter(pk=image.pk).first()
    if held is None or (held.archive and not _is_stored(held)):
        raise Refused(
            Code.UPLOAD_GONE, "The image's archive was rejected or deleted after it was uploaded; upload it again."
        )


def drop_refused(image: Image) -> None:
    """Delete the archive of an invalid image, unless a custom scorer or another prediction still needs the archive.

    Call this in the transaction that rejects the prediction. The image's row stays, because the submission references
    it. The file is deleted before the commit, while the row is locked, so that no concurrent submission (which locks
    the row in `check_stored`) relies on the file.
    """
    held = Image.objects.select_for_update().get(pk=image.pk)
    if held.scorers.exists():
        return
    others = Prediction.objects.filter(submission__image=held).exclude(state=State.REJECTED, reason=Reason.BAD_IMAGE)
    if held.archive and not others.exists():
        held.archive.storage.delete(str(held.archive.name))


def delete_old() -> int:
    """Delete images older than RETENTION that nothing uses; return their number."""
    old = Image.objects.filter(submissions=None, scorers=None, created_at__lt=db_clock.earliest() - RETENTION)
    return delete_unused(old.values_list("pk", flat=True))


def delete_unused(keys: Iterable[UUID]) -> int:
    """Delete those images, with their archives, that no submission and no custom scorer uses; return their number."""
    deleted = 0
    for pk in list(keys):
        with transaction.atomic():
            # Checked again under the row's lock, because accepting a submission locks the row too.
            held = Image.objects.select_for_update().filter(pk=pk).first()
            if held is None or held.submissions.exists() or held.scorers.exists():
                continue
            AuditEntry.record("image.forgotten", held, bytes=held.archive_bytes)
            if held.archive:
                delete_after_commit(held.archive)
            held.delete()
            deleted += 1
    return deleted


def _is_stored(image: Image) -> bool:
    return bool(image.archive) and image.archive.storage.exists(str(image.archive.name))
