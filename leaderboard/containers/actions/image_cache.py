"""Cache of images in a host's container engine: an image stays after a run, and the least recently used are removed.

The engine lists its images; predictions and runs of scorers in the database show when each image was last used. Only
images that this site has loaded count. The size of an image includes all its layers, also those that it shares with
other images.
"""

from __future__ import annotations

import socket
from datetime import UTC, datetime

import structlog
from django.conf import settings
from django.db.models import Max
from django.db.models.functions import Coalesce

from leaderboard.containers.actions import engine
from leaderboard.models import Image, Placement, Prediction, Run, State

log = structlog.get_logger(__name__)


def make_room(*, needed_bytes: int = 0) -> dict[str, int]:
    """Remove the least recently used images until there is room for `needed_bytes` more.

    There is room if, with these bytes, the images have at most IMAGE_CACHE_BYTES in total and ENGINE_DISK_BYTES remain
    free on the disk. An image in use is never removed. Returns id -> size in bytes of each of the site's images that
    stays; an image that the engine did not remove is left out. Raises SandboxError for a failure of the engine.
    """
    images = _images()
    for image in _by_last_use(images):
        if sum(images.values()) + needed_bytes <= settings.IMAGE_CACHE_BYTES and not is_disk_low(needed_bytes):
            break
        if _is_in_use(image):
            continue
        size = images.pop(image)  # one that has a tag, or that a container of another site uses, is not ours to count
        try:
            if engine.forget(image):
                log.info("image_evicted", image=image, bytes=size)
        except engine.SandboxError as error:
            log.warning("image_removal_failed", error=str(error))
    return images


def is_disk_low(needed_bytes: int = 0) -> bool:
    """Return whether less than ENGINE_DISK_BYTES would be free on the engine's disk after `needed_bytes` were written.

    False if the free space is not known. Raises SandboxError for a failure of the engine.
    """
    free = engine.disk_free_bytes()
    return free is not None and free - needed_bytes < settings.ENGINE_DISK_BYTES


def _images() -> dict[str, int]:
    """Return id -> unpacked size in bytes of the images in the engine that this site has loaded."""
    known = dict(Image.objects.exclude(digest="").values_list("digest", "unpacked_bytes"))
    return {image: known[image] for image in sorted(engine.images() & known.keys())}


def _by_last_use(images: dict[str, int]) -> list[str]:
    """Return the ids of images: first those that were never used, then the others, the least recently used first.

    Use by submitted systems counts only on this host, use by custom scorers on any host.
    """
    placed = Placement.objects.filter(worker__host=socket.gethostname(), image__digest__in=images).order_by()
    scored = Run.objects.filter(scorer__image__digest__in=images).order_by()
    used = dict.fromkeys(images, datetime.min.replace(tzinfo=UTC))
    for rows in (
        placed.values_list("image__digest").annotate(at=Max(Coalesce("prediction__finished_at", "claimed_at"))),
        scored.values_list("scorer__image__digest").annotate(at=Max(Coalesce("finished_at", "queued_at"))),
    ):
        for image, at in rows:
            used[image] = max(at, used[image])
    return sorted(images, key=lambda image: used[image])


def _is_in_use(image: str) -> bool:
    """Return whether a container of the image runs on any host, or may be about to start there. image: its id."""
    systems = Prediction.objects.filter(state=State.RUNNING, submission__image__digest=image)
    scorers = Run.objects.filter(state=State.RUNNING, scorer__image__digest=image)
    return systems.exists() or scorers.exists()
