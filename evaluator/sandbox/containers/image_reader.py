"""Reads image archives as strangers write them, and writes the clean archive that an engine may load.

`docker load` is no validator: it moves existing tags, unpacks bombs, and believes a layer's claimed digest where it has
that layer. So an archive is read here first, without an engine and without unpacking an image to a disk: an index of
its members, then the manifest and the config, then each layer, hashed and walked. Both layouts that `docker save` has
written are known: a folder a layer with `layer.tar` (engines to 24), and `blobs/sha256/...` (from 25).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.errors import shown
from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.image_archive import Archive
from evaluator.sandbox.containers.image_config import read_config, read_json, this_architecture
from evaluator.sandbox.containers.image_errors import (
    ArchiveError,
    LayerCountError,
    LayerDigestError,
    SeveralImagesError,
)
from evaluator.sandbox.containers.image_layers import Allowance, check_layer, plain


@dataclass(frozen=True, kw_only=True)
class ImageLimits:
    """What an image may be. Sizes are bytes."""

    archive_bytes: int = 10_000_000_000  # as received
    unpacked_bytes: int = 10_000_000_000  # of all layers
    ratio: int = 200  # of a packed layer's unpacked bytes to its packed ones
    members: int = 2000  # of the archive
    layers: int = 127  # what overlayfs engines mount
    layer_members: int = 1_000_000  # files of all layers
    config_bytes: int = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ImageArchive:
    """An image whose every layer is what its config says. Its source stays in use until `clean` is through.

    id: `sha256:` and the digest of its config, the id that an engine without the containerd store gives it. config: in
    lower case at its upper levels.
    """

    id: str
    config: Mapping[str, Any]
    diff_ids: Sequence[str]
    size: int  # bytes of its layers, unpacked
    _config_bytes: bytes = field(repr=False)
    _archive: Archive = field(repr=False)
    _layers: Sequence[str] = field(repr=False)  # names of members, base first
    _sizes: Sequence[int] = field(repr=False)

    def clean(self) -> Iterator[bytes]:
        """The archive to load: plain layers, the config, one manifest entry without tags.

        Layers are hashed again on their way, and the archive stays without its end if one has changed.
        Raises LayerDigestError.
        """
        written: set[str] = set()
        names = []
        for name, diff_id, size in zip(self._layers, self.diff_ids, self._sizes, strict=True):
            file = f"{diff_id.removeprefix('sha256:')}.tar"
            names.append(file)
            if file not in written:
                written.add(file)
                yield from tar.file(file, self._hashed(name, diff_id, size), size)
        config = f"{self.id.removeprefix('sha256:')}.json"
        manifest = json.dumps([{"Config": config, "RepoTags": None, "Layers": names}]).encode()
        yield from tar.file(config, [self._config_bytes], len(self._config_bytes))
        yield from tar.file("manifest.json", [manifest], len(manifest))
        yield tar.END

    def _hashed(self, name: str, diff_id: str, size: int) -> Iterator[bytes]:
        digest = hashlib.sha256()
        allowance = Allowance(bytes=size, members=0, ratio=size + 1)
        for piece in plain(self._archive.pieces(name), allowance, name):
            digest.update(piece)
            yield piece
        if f"sha256:{digest.hexdigest()}" != diff_id:
            raise LayerDigestError(f"{name} changed while it was read")


def read_image(
    descriptor: int,
    limits: ImageLimits | None = None,
    *,
    architecture: str | None = None,
    scratch: str | Path | None = None,
) -> ImageArchive:
    """Read what `docker save` wrote, plain or packed with gzip.

    descriptor: of a regular file, open while the result is used. architecture: the engine's, default this machine's.
    scratch: where a packed archive is unpacked, to an unnamed file. Raises ImageError: each refusal is a class of
    `image_errors`, with its code and a text for the participant.
    """
    limits = limits or ImageLimits()
    archive = Archive(descriptor, limits.archive_bytes, limits.members, scratch)
    manifest = read_json(archive.read("manifest.json", limits.config_bytes), "manifest.json")
    if not isinstance(manifest, list) or len(manifest) != 1 or not isinstance(manifest[0], dict):
        found = f"{len(manifest)} images" if isinstance(manifest, list) else shown(manifest)
        raise SeveralImagesError(f"manifest.json lists {found}, expected one: docker save NAME")
    entry = {key.casefold(): value for key, value in manifest[0].items()}
    named, layers = entry.get("config"), entry.get("layers")
    if not isinstance(named, str) or not isinstance(layers, list) or not all(isinstance(at, str) for at in layers):
        raise ArchiveError("manifest.json names no config and layers, expected Config and Layers")
    content = archive.read(named, limits.config_bytes)
    config, diff_ids = read_config(content, architecture=architecture or this_architecture(), most_layers=limits.layers)
    if len(layers) != len(diff_ids):
        raise LayerCountError(f"manifest.json lists {len(layers)} layers, the image's config {len(diff_ids)}")
    allowance = Allowance(bytes=limits.unpacked_bytes, members=limits.layer_members, ratio=limits.ratio)
    sizes = [
        check_layer(archive.pieces(name), diff_id, allowance, f"layer {number} of {len(layers)}")
        for number, (name, diff_id) in enumerate(zip(layers, diff_ids, strict=True), 1)
    ]
    return ImageArchive(
        id=f"sha256:{hashlib.sha256(content).hexdigest()}",
        config=config,
        diff_ids=diff_ids,
        size=sum(sizes),
        _config_bytes=content,
        _archive=archive,
        _layers=layers,
        _sizes=sizes,
    )
