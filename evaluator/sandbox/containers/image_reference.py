"""References to images in registries, by digest: a tag can be moved to another image, a digest cannot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.errors import shown
from evaluator.sandbox.containers.image_errors import RegistryReferenceError

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?::[0-9]{1,5})?"
_REFERENCE = re.compile(rf"(?P<host>{_HOST})/(?P<name>{_PART}(?:/{_PART}){{0,9}})@(?P<digest>sha256:[0-9a-f]{{64}})")


@dataclass(frozen=True)
class Reference:
    registry: str
    name: str
    digest: str

    @property
    def repository(self) -> str:
        return f"{self.registry}/{self.name}"

    def __str__(self) -> str:
        return f"{self.repository}@{self.digest}"


def parse_reference(text: str, allowed: Iterable[str]) -> Reference:
    """Parse a reference of the form `registry/name@sha256:...`. allowed: registries as `host` or `host:port`.

    A reference without a registry is refused, since an engine would look for it on Docker Hub. Raises
    RegistryReferenceError.
    """
    allowed = sorted(allowed)
    match = _REFERENCE.fullmatch(text) if len(text) <= 400 else None
    if match is None:
        raise RegistryReferenceError(
            f"the image is {shown(text)}, expected registry/name@sha256: and 64 lower-case hexadecimal digits"
        )
    registry = match["host"]
    if registry not in allowed:
        expected = f"one of: {', '.join(allowed)}" if allowed else "an archive, because this server uses no registry"
        raise RegistryReferenceError(f"the registry is {shown(registry)}, expected {expected}")
    return Reference(registry, match["name"], match["digest"])
