"""Validation of an untrusted image's config."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NoReturn

from evaluator.errors import shown
from evaluator.sandbox.containers.image_errors import ConfigError, LayerCountError, PlatformError, VolumeError

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_KERNELS_FOLDERS = ("proc", "sys", "dev")


def this_architecture() -> str:
    """Return this machine's architecture by the name that container engines use, such as amd64."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def read_config(content: bytes, *, architecture: str, most_layers: int) -> tuple[dict[str, Any], list[str]]:
    """Return the checked config, with the keys of its two upper levels in lower case, and the digests of the image's
    layers, base first.

    architecture: the one that the image must have, such as amd64. Raises ConfigError or one of its subclasses, or
    LayerCountError.
    """
    config = read_json(content, "the image's config")
    if not isinstance(config, dict):
        raise ConfigError(f"the image's config is {shown(config)}, expected a JSON object")
    check_platform(_text(config, "os"), _text(config, "architecture"), architecture)
    root = config.get("rootfs")
    diff_ids = root.get("diff_ids") if isinstance(root, dict) else None
    if not isinstance(diff_ids, list) or not all(isinstance(d, str) and _DIGEST.fullmatch(d) for d in diff_ids):
        raise ConfigError("the image's config lists no layers: expected rootfs.diff_ids, sha256 digests")
    check_layers(len(diff_ids), most_layers)
    settings = config.get("config")
    if not isinstance(settings, dict):
        raise ConfigError("the image's config has no settings: expected a JSON object under config")
    check_settings(settings)
    return config, diff_ids


def check_platform(system: str, platform: str, architecture: str) -> None:
    """Raise PlatformError unless an image for `system` and `platform` is one for Linux and `architecture`."""
    if (system, platform) != ("linux", architecture):
        raise PlatformError(
            f"the image is for {shown(system)} on {shown(platform)}, expected linux on {architecture}: build it with "
            f"--platform linux/{architecture}"
        )


def check_layers(count: int, most: int) -> None:
    """Raise LayerCountError unless there are 1 to `most` layers."""
    if not 0 < count <= most:
        raise LayerCountError(f"the image has {count} layers, expected 1 to {most}: combine RUN and COPY lines")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Check the settings with which an image is run; the case of their keys is ignored. Raises ConfigError,
    VolumeError.

    USER, HEALTHCHECK, STOPSIGNAL, labels and ports are not checked, since they are overridden when the image is run,
    nor is ONBUILD, which has no effect then.
    """
    settings = {key.lower(): value for key, value in settings.items()}
    if volumes := settings.get("volumes"):
        named = ", ".join(shown(name) for name in list(volumes)[:3]) if isinstance(volumes, dict) else shown(volumes)
        raise VolumeError(
            f"the image declares VOLUME {named}, expected none: such a folder would be writable without a limit; write "
            "to /tmp"
        )
    for name in ("entrypoint", "cmd", "env"):
        words = settings.get(name)
        if words is not None and not (
            isinstance(words, list) and all(isinstance(word, str) and "\0" not in word for word in words)
        ):
            raise ConfigError(f"the image's {name} is {shown(words)}, expected a list of strings")
    if not settings.get("entrypoint") and not settings.get("cmd"):
        raise ConfigError("the image has no command, expected ENTRYPOINT or CMD")
    _check_folder(settings.get("workingdir") or "/")


def _check_folder(folder: object) -> None:
    """Raise ConfigError for a WORKDIR in /proc, /sys or /dev, or one that is not an absolute path.

    A WORKDIR in /proc/self/fd once let containers escape (CVE-2024-21626).
    """
    path = PurePosixPath(folder) if isinstance(folder, str) and "\0" not in folder else PurePosixPath()
    if not path.is_absolute() or ".." in path.parts or path.parts[1:2] in [(name,) for name in _KERNELS_FOLDERS]:
        raise ConfigError(
            f"the image's WORKDIR is {shown(folder)}, expected an absolute path outside /proc, /sys and /dev"
        )


def read_json(content: bytes, what: str) -> Any:
    """Return parsed JSON, with the keys of the two upper levels of objects in lower case. what: names it in errors.

    Raises ConfigError for invalid JSON and for duplicate keys. Keys that differ only in case are duplicates: engines
    ignore case (by Unicode case folding) and take the last of equal keys.
    """

    def refuse(why: str) -> NoReturn:
        raise ConfigError(f"{what} {why}") from None

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len({key.casefold() for key in result}) != len(pairs):
            refuse("has a duplicate key, expected different keys in an object (engines ignore case)")
        return result

    def constant(name: str) -> None:
        refuse(f"has the number {name}, which JSON does not allow")

    try:
        read = json.loads(content.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
    except (ValueError, RecursionError):
        refuse("is not valid JSON")
    return _lowered(read, 2)


def _lowered(value: Any, levels: int) -> Any:
    if isinstance(value, list):
        return [_lowered(item, levels) for item in value]
    if not isinstance(value, dict) or not levels:
        return value
    return {key.casefold(): _lowered(item, levels - 1) for key, item in value.items()}


def _text(config: Mapping[str, Any], name: str) -> str:
    value = config.get(name)
    return value if isinstance(value, str) else ""
