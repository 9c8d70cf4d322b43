"""Image archives built in memory: valid ones and every kind of invalid one."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.sandbox.containers.image_config import this_architecture


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """fields: of the TarInfo (type, linkname, mode, pax_headers...)."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def tarred(members: Iterable[tuple[tarfile.TarInfo, bytes]], format: int = tarfile.GNU_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def layer(number: int = 0) -> bytes:
    return tarred([member("folder/", type=tarfile.DIRTYPE), member(f"folder/file-{number}", b"content" * number)])


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Image:
    """The content of an archive; each test makes one part invalid."""

    layers: list[bytes] = field(default_factory=lambda: [layer(1), layer(2)])
    settings: dict[str, Any] = field(default_factory=lambda: {"Cmd": ["/run"], "Env": ["PATH=/bin"]})
    top: dict[str, Any] = field(default_factory=dict)  # overrides keys of the config
    pack: Callable[[bytes], bytes] = bytes  # a layer's bytes as stored in the archive
    diff_ids: list[str] | None = None
    config: bytes | None = None
    entries: list[dict[str, Any]] | None = None
    tags: list[str] | None = None
    more: list[tuple[tarfile.TarInfo, bytes]] = field(default_factory=list)
    without: str = ""

    def config_bytes(self) -> bytes:
        if self.config is not None:
            return self.config
        config = {
            "architecture": this_architecture(),
            "os": "linux",
            "config": self.settings,
            "rootfs": {
                "type": "layers",
                "diff_ids": self.diff_ids or [f"sha256:{digest(content)}" for content in self.layers],
            },
            **self.top,
        }
        return json.dumps(config).encode()

    def id(self) -> str:
        return f"sha256:{digest(self.config_bytes())}"

    def legacy(self) -> bytes:
        """The layout of engines up to version 24: one folder per layer."""
        names = [f"{digest(content + b'%d' % i)}/layer.tar" for i, content in enumerate(self.layers)]
        config = f"{digest(self.config_bytes())}.json"
        files = [
            part
            for name, content in zip(names, self.layers, strict=True)
            for part in (
                member(name.replace("layer.tar", ""), type=tarfile.DIRTYPE),
                member(name.replace("layer.tar", "VERSION"), b"1.0"),
                member(name.replace("layer.tar", "json"), b"{}"),
                member(name, self.pack(content)),
            )
        ]
        return self._archive(files, config, names, [member("repositories", b"{}")])

    def oci(self) -> bytes:
        """The layout of engines from version 25: blobs named by digest, and a manifest.json next to the index."""
        blobs = {f"blobs/sha256/{digest(self.pack(content))}": self.pack(content) for content in self.layers}
        names = [f"blobs/sha256/{digest(self.pack(content))}" for content in self.layers]
        config = f"blobs/sha256/{digest(self.config_bytes())}"
        files = [member("blobs/", type=tarfile.DIRTYPE), member("blobs/sha256/", type=tarfile.DIRTYPE)]
        files += [member(name, content) for name, content in blobs.items()]
        last = [member("index.json", b'{"schemaVersion": 2}'), member("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')]
        return self._archive(files, config, names, last)

    def _archive(
        self,
        files: list[tuple[tarfile.TarInfo, bytes]],
        config: str,
        names: list[str],
        last: list[tuple[tarfile.TarInfo, bytes]],
    ) -> bytes:
        entries = self.entries
        if entries is None:
            entries = [{"Config": config, "RepoTags": self.tags, "Layers": names}]
        manifest = json.dumps(entries).encode()
        files = [*files, member(config, self.config_bytes()), member("manifest.json", manifest), *last, *self.more]
        return tarred((info, content) for info, content in files if info.name != (self.without or None))


def packed(content: bytes) -> bytes:
    """The content as gzip, without a timestamp."""
    return gzip.compress(content, mtime=0)


def zeros(size: int) -> bytes:
    """A gzip bomb: `size` zero bytes, compressed."""
    return packed(bytes(size))


def stored(folder: Path, content: bytes) -> Path:
    path = folder / "image.tar"
    path.write_bytes(content)
    return path
