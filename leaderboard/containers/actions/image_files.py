"""How long an image's bytes are kept. What was run once may be run again; what was refused or never sent may not.

An archive that is no image goes with its refusal, one that was never submitted after some days. An engine keeps an
image as long as a prediction waits for it or is being made with it: it is given the archive again at need.
"""

from __future__ import annotations

from django.core.files.base import File
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Image, Prediction, Reason, State
from leaderboard.models.image import KEPT


def kept(*, archive: File[bytes], sha256: str) -> Image:
    """The image of an archive, stored once however often it is sent. `sha256`: of the archive's bytes.

    One whose stored archive is gone, since it was refused or a disk lost it, is stored again.
    """
    there = Image.objects.filter(archive_sha256=sha256).first()
    if there is not None and _is_stored(there):
        return there
    new = Image(archive_sha256=sha256, archive_bytes=archive.size)
    new.archive.save("image.tar", archive, save=False)
    stored = str(new.archive.name)
    made, created = Image.objects.get_or_create(
        archive_sha256=sha256, defaults={"archive": stored, "archive_bytes": archive.size}
    )
    if created:
        return made
    if not _is_stored(made) and Image.objects.filter(pk=made.pk, archive=made.archive.name).update(archive=stored):
        made.archive.name = stored
        return made
    new.archive.storage.delete(stored)
    made.refresh_from_db()
    return made


def check_stored(image: Image) -> None:
    """Hold an image until the transaction ends. Raises Refused for one whose archive went away meanwhile."""
    held = Image.objects.select_for_update().filter(pk=image.pk).first()
    if held is None or (held.archive and not _is_stored(held)):
        raise Refused(Code.INVALID_IMAGE, "The archive was refused or forgotten meanwhile; send it again.")


def drop_refused(image: Image) -> None:
    """Delete the archive of what is no image, unless a prediction still needs it. Call in the refusal's transaction.

    The row stays, since the submission names it. Deleting before the commit leaves no moment in which a new submission
    (`check_stored`) could count on the file.
    """
    held = Image.objects.select_for_update().get(pk=image.pk)
    if held.scorers.exists():
        return
    others = Prediction.objects.filter(submission__image=held).exclude(state=State.REJECTED, reason=Reason.BAD_IMAGE)
    if held.archive and not others.exists():
        held.archive.storage.delete(str(held.archive.name))


def forget_unused() -> int:
    """Forget the images that came days ago and were never submitted, nor made a scorer; how many those were."""
    old = Image.objects.filter(submissions=None, scorers=None, created_at__lt=timezone.now() - KEPT)
    gone = 0
    for pk in list(old.values_list("pk", flat=True)):
        with transaction.atomic():
            # Locked, then looked at again: a submission that is just being accepted holds it too.
            held = Image.objects.select_for_update().filter(pk=pk).first()
            if held is None or held.submissions.exists() or held.scorers.exists():
                continue
            AuditEntry.record("image.forgotten", held, bytes=held.archive_bytes)
            if held.archive:
                held.archive.storage.delete(str(held.archive.name))
            held.delete()
            gone += 1
    return gone


def idle() -> frozenset[str]:
    """What an engine may know and no prediction waits for, as the engine names it; nor a phase that it scores."""
    needed = Prediction.objects.filter(state__in=(State.QUEUED, State.RUNNING)).exclude(submission__image=None)
    in_use = Q(pk__in=needed.values("submission__image")) | Q(scorers__phases__isnull=False)
    known = Image.objects.exclude(digest="").values_list("digest", flat=True)
    # Two archives of one image differ in their bytes, and are one to the engine.
    return frozenset(known) - frozenset(known.filter(in_use))


def _is_stored(image: Image) -> bool:
    return bool(image.archive) and image.archive.storage.exists(str(image.archive.name))
