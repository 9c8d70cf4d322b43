"""Reads image archives as strangers write them, and writes the clean archive that an engine may load.

`docker load` is no validator: it moves existing tags, unpacks bombs, and believes a layer's claimed digest where it has
that layer. So an archive is read here first, without an engine and without unpacking anything to a disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ImageLimits:
    """What an image may be. Sizes are bytes."""

    archive_bytes: int = 8 << 30  # as received
    unpacked_bytes: int = 16 << 30  # of all layers
    ratio: int = 200  # of a packed layer's unpacked bytes to its packed ones
    members: int = 2000  # of the archive
    layers: int = 127  # what overlayfs engines mount
    layer_members: int = 1_000_000  # files of all layers
    config_bytes: int = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ImageArchive:
    """An image whose every layer is what its config says.

    id: `sha256:` and the digest of its config, the id that an engine without the containerd store gives it.
    """

    id: str
    config: Mapping[str, Any]
    diff_ids: Sequence[str]
    size: int  # bytes of its layers, unpacked

    def clean(self) -> Iterator[bytes]:
        """The archive to load: config, plain layers, one manifest entry without tags. Raises ImageError."""
        raise NotImplementedError


def read_image(descriptor: int, limits: ImageLimits | None = None) -> ImageArchive:
    """Read what `docker save` wrote. descriptor: of a regular file, which stays open while the result is used.

    Raises ImageError: each refusal is a class of `image_errors` with its code.
    """
    raise NotImplementedError
