"""Validation of untrusted image archives, and the clean archives that an engine may load.

`docker load` does not validate: it moves existing tags, unpacks decompression bombs, and trusts a layer's claimed
digest if it has that layer. So an archive is checked here first, without an engine and without unpacking the image to
disk: its members are indexed, the manifest and the config are parsed, and each layer is hashed and parsed. Both layouts
of `docker save` are supported: one folder per layer with `layer.tar` (engines up to 24), and `blobs/sha256/...` (from
25).
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
    ImageArchiveError,
    LayerCountError,
    LayerDigestError,
    SeveralImagesError,
)
from evaluator.sandbox.containers.image_layers import RemainingLimits, check_layer, plain


@dataclass(frozen=True, kw_only=True)
class ImageLimits:
    """Limits on a submitted or pulled image. Sizes are bytes."""

    archive_bytes: int = 10_000_000_000  # as received
    unpacked_bytes: int = 10_000_000_000  # of all layers
    members: int = 2000  # of the archive
    layers: int = 125  # Docker's layer store refuses more: "max depth exceeded"
    layer_members: int = 1_000_000  # files of all layers
    config_bytes: int = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ImageArchive:
    """A validated image archive: every layer matches the config. Its file must stay open until `clean` has finished.

    id: `sha256:` and the digest of its config, its id on an engine without the containerd store. config: the image's
    config, with the keys of its two upper levels in lower case. diff_ids: digests of the uncompressed layers, base
    first.
    """

    id: str
    config: Mapping[str, Any]
    diff_ids: Sequence[str]
    size: int  # uncompressed bytes of its layers
    _config_bytes: bytes = field(repr=False)
    _archive: Archive = field(repr=False)
    _layers: Sequence[str] = field(repr=False)  # member names, base first
    _sizes: Sequence[int] = field(repr=False)

    def clean(self) -> Iterator[bytes]:
        """Yield the archive to load, which has only the uncompressed layers, the config, and one manifest entry without
        tags.

        Layers are hashed again. Raises LayerDigestError if one has changed; what was yielded until then is not a whole
        archive.
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
        allowance = RemainingLimits(bytes=size, members=0)
        for piece in plain(self._archive.pieces(name), allowance, name):
            digest.update(piece)
            yield piece
        if f"sha256:{digest.hexdigest()}" != diff_id:
            raise LayerDigestError(f"the file of the layer {shown(name)} changed while it was read")


def read_image(
    descriptor: int,
    limits: ImageLimits | None = None,
    *,
    architecture: str | None = None,
    scratch: str | Path | None = None,
) -> ImageArchive:
    """Read and validate an archive of `docker save`, plain or compressed with gzip.

    descriptor: an open descriptor of a regular file; it must stay open while the result is used. architecture: that of
    the engine, such as amd64; None: this machine's. scratch: the folder for the unnamed file to which a compressed
    archive is decompressed. Raises ImageError, always one of the subclasses in `image_errors`, with a code and a text
    for the participant.
    """
    limits = limits or ImageLimits()
    archive = Archive(descriptor, limits.archive_bytes, limits.members, scratch)
    manifest = read_json(archive.read("manifest.json", limits.config_bytes), "manifest.json")
    if not isinstance(manifest, list) or len(manifest) != 1 or not isinstance(manifest[0], dict):
        found = f"{len(manifest)} images" if isinstance(manifest, list) else shown(manifest)
        raise SeveralImagesError(f"manifest.json lists {found}, expected one image: use docker save NAME")
    entry = {key.casefold(): value for key, value in manifest[0].items()}
    config_name, layers = entry.get("config"), entry.get("layers")
    if (
        not isinstance(config_name, str)
        or not isinstance(layers, list)
        or not all(isinstance(layer, str) for layer in layers)
    ):
        raise ImageArchiveError(
            "manifest.json does not name the image's files, expected Config with a file name and Layers with a list of "
            "file names, as `docker save` writes them"
        )
    content = archive.read(config_name, limits.config_bytes)
    config, diff_ids = read_config(content, architecture=architecture or this_architecture(), most_layers=limits.layers)
    if len(layers) != len(diff_ids):
        raise LayerCountError(f"manifest.json lists {len(layers)} layers, but the image's config lists {len(diff_ids)}")
    allowance = RemainingLimits(bytes=limits.unpacked_bytes, members=limits.layer_members)
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
