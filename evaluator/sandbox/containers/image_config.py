"""Validation of an untrusted image's config."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec

from evaluator.errors import shown
from evaluator.sandbox.containers.image_errors import ConfigError, LayerCountError, PlatformError, VolumeError

MOST_ENTRIES = 1000
"""Maximum entries of one list or object in a config. Engines need time for the square of the number of variables."""
_MOST_BYTES = 100_000  # of all entries of one list or object; Linux limits a word of a command to 131,071 bytes
_MOST_LABEL_BYTES = 500_000  # build tools store descriptions of hundreds of kilobytes in labels
_MOST_NAME_BYTES = 1000  # of a setting that is one string
_MOST_DEPTH = 32  # of nested lists and objects
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_KERNELS_FOLDERS = ("proc", "sys", "dev")

_Type = TypeVar("_Type", bound=msgspec.Struct)
_Integer = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_Names = dict[str, dict[str, Any] | None]  # Go's map[string]struct{}


class _Health(msgspec.Struct, kw_only=True):
    test: list[str] | None = None
    interval: _Integer | None = None
    timeout: _Integer | None = None
    startperiod: _Integer | None = None
    startinterval: _Integer | None = None
    retries: _Integer | None = None


class _Settings(msgspec.Struct, kw_only=True):
    """The types of an image's settings in Docker (container.Config). An engine refuses an image with other types."""

    hostname: str | None = None
    domainname: str | None = None
    user: str | None = None
    attachstdin: bool | None = None
    attachstdout: bool | None = None
    attachstderr: bool | None = None
    exposedports: _Names | None = None
    tty: bool | None = None
    openstdin: bool | None = None
    stdinonce: bool | None = None
    env: list[str] | None = None
    cmd: list[str] | None = None
    healthcheck: _Health | None = None
    argsescaped: bool | None = None
    image: str | None = None
    volumes: _Names | None = None
    workingdir: str | None = None
    entrypoint: list[str] | None = None
    networkdisabled: bool | None = None
    macaddress: str | None = None
    onbuild: list[str] | None = None
    labels: dict[str, str] | None = None
    stopsignal: str | None = None
    stoptimeout: _Integer | None = None
    shell: list[str] | None = None


class _HistoryEntry(msgspec.Struct, kw_only=True):
    created: _Time | None = None
    author: str | None = None
    created_by: str | None = None
    comment: str | None = None
    empty_layer: bool | None = None


class _RootFileSystem(msgspec.Struct, kw_only=True):
    type: str = ""
    diff_ids: list[str] | None = None


class _Config(msgspec.Struct, kw_only=True):
    """The types of an image's config in Docker (image.Image)."""

    id: str | None = None
    parent: str | None = None
    comment: str | None = None
    created: _Time | None = None
    container: str | None = None
    container_config: _Settings | None = None
    docker_version: str | None = None
    author: str | None = None
    config: _Settings | None = None
    architecture: str | None = None
    variant: str | None = None
    os: str | None = None
    size: _Integer | None = None
    rootfs: _RootFileSystem | None = None
    history: list[_HistoryEntry] | None = None
    os_version: str | None = msgspec.field(default=None, name="os.version")
    os_features: list[str] | None = msgspec.field(default=None, name="os.features")


def this_architecture() -> str:
    """Return this machine's architecture by the name that container engines use, such as amd64."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def read_config(content: bytes, *, architecture: str, most_layers: int) -> tuple[dict[str, Any], list[str]]:
    """Return (the checked config, the digests of the layers, base first).

    The keys in the two upper levels of the config are in lower case. content: the config as JSON. architecture: the one
    that the image must have, such as amd64. most_layers: the maximum number of layers. Raises ConfigError or one of its
    subclasses, or LayerCountError.
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
    for name in ("history", "os.features"):
        _check_count(name, config.get(name))
    typed = _typed(_folded(config, "config", "container_config"), _Config, "the image's config")
    kind = typed.rootfs.type if typed.rootfs else ""
    if kind != "layers":
        raise ConfigError(f"the image's rootfs.type is {shown(kind)}, expected layers")
    filled = sum(not entry.empty_layer for entry in typed.history or ())
    if filled > len(diff_ids):
        raise ConfigError(
            f"the image's history has {filled} entries that are not marked as empty_layer, expected at most "
            f"{len(diff_ids)}, one per layer"
        )
    return config, diff_ids


def check_platform(system: str, platform: str, architecture: str) -> None:
    """Raise PlatformError unless the operating system is Linux and the image's platform is `architecture`."""
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
    """Check the settings with which an image is run. Raises ConfigError, VolumeError.

    The case of the settings' keys is ignored. Types and sizes of all settings are checked, so that engines accept them
    quickly. Some values are not checked: those of USER, HEALTHCHECK, STOPSIGNAL, labels and ports, which are overridden
    when the image is run, and that of ONBUILD, which then has no effect.
    """
    settings = {key.casefold(): value for key, value in settings.items()}
    if volumes := settings.get("volumes"):
        named = ", ".join(shown(name) for name in list(volumes)[:3]) if isinstance(volumes, dict) else shown(volumes)
        raise VolumeError(
            f"the image declares VOLUME {named}, expected none: such a folder would be writable without a limit; write "
            "to /tmp"
        )
    for name, value in settings.items():
        _check_count(name, value)
    typed = _typed(_folded({"config": settings}, "config")["config"], _Settings, "the image's settings")
    for name in ("exposedports", "env", "cmd", "entrypoint", "onbuild", "labels", "shell"):
        _check_bytes(name, getattr(typed, name))
    _check_bytes("healthcheck", typed.healthcheck.test if typed.healthcheck else None)
    for name in ("hostname", "domainname", "user", "image", "workingdir", "macaddress", "stopsignal"):
        _check_name(name, getattr(typed, name) or "")
    for variable in typed.env or ():
        if variable.find("=") < 1:
            raise ConfigError(f"the image's env has {shown(variable)}, expected NAME=VALUE")
    entrypoint = [] if typed.entrypoint == [""] else typed.entrypoint or []  # engines take [""] for none
    command = [*entrypoint, *(typed.cmd or [])]
    if not command or not command[0]:
        found = f"the command {shown(command[:3])}" if command else "no command"
        raise ConfigError(f"the image has {found}, expected ENTRYPOINT or CMD with a program")
    _check_folder(typed.workingdir or "/")


def _check_count(name: str, value: object) -> None:
    """Raise ConfigError if the setting `name` is a list or object with more than MOST_ENTRIES entries."""
    if isinstance(value, list | dict) and len(value) > MOST_ENTRIES:
        raise ConfigError(f"the image's {name} has {len(value)} entries, expected at most {MOST_ENTRIES}")


def _check_bytes(name: str, value: list[str] | Mapping[str, object] | None) -> None:
    """Raise ConfigError if the strings of the setting `name` together have too many bytes. value: None: not set."""
    most = _MOST_LABEL_BYTES if name == "labels" else _MOST_BYTES
    texts = list(value or ())
    if isinstance(value, Mapping):
        texts += [text for text in value.values() if isinstance(text, str)]
    size = sum(len(text.encode()) for text in texts)
    if size > most:
        raise ConfigError(f"the image's {name} has {size} bytes, expected at most {most}")


def _check_name(name: str, value: str) -> None:
    """Raise ConfigError if the setting `name` is a string that is too long or has control characters."""
    size = len(value.encode())
    if size > _MOST_NAME_BYTES:
        raise ConfigError(f"the image's {name} has {size} bytes, expected at most {_MOST_NAME_BYTES}")
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ConfigError(f"the image's {name} is {shown(value)}, expected a string without control characters")


def _check_folder(folder: str) -> None:
    """Raise ConfigError for a WORKDIR in /proc, /sys or /dev, or one that is not an absolute path.

    A WORKDIR in /proc/self/fd once let containers escape (CVE-2024-21626).
    """
    path = PurePosixPath(folder)
    if not path.is_absolute() or ".." in path.parts or path.parts[1:2] in [(name,) for name in _KERNELS_FOLDERS]:
        raise ConfigError(
            f"the image's WORKDIR is {shown(folder)}, expected an absolute path outside /proc, /sys and /dev"
        )
    if any(len(part.encode()) > 255 for part in path.parts):
        raise ConfigError(
            f"the image's WORKDIR is {shown(folder)}, expected at most 255 bytes in each name of the path"
        )


def _typed(value: Mapping[str, Any], kind: type[_Type], what: str) -> _Type:
    """Convert parsed JSON to one of Docker's types. Raises ConfigError that names the first value of a wrong type.

    what: the name of the JSON value, for the error text.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{what} would be refused by engines: {problem}") from None


def _folded(config: Mapping[str, Any], *settings: str) -> dict[str, Any]:
    """Return the config with the keys inside `healthcheck` in lower case.

    The keys in the levels above are in lower case already. settings: those keys of the config whose values may have the
    key `healthcheck`.
    """
    folded = dict(config)
    for name in settings:
        value = folded.get(name)
        if isinstance(value, dict) and isinstance(value.get("healthcheck"), dict):
            health = {key.casefold(): item for key, item in value["healthcheck"].items()}
            folded[name] = {**value, "healthcheck": health}
    return folded


def read_json(content: bytes, what: str) -> Any:
    """Return parsed JSON, with the keys of the two upper levels of objects in lower case.

    what: the name of the JSON text in errors. Raises ConfigError for invalid JSON, for duplicate keys, for strings with
    NUL or half a surrogate pair, and for deep nesting. Keys that differ only in case are duplicates: engines ignore
    case (by Unicode case folding) and take the last of equal keys.
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
    level = [read]
    for _ in range(_MOST_DEPTH):
        for text in (text for value in level for text in _texts(value)):
            if "\0" in text or _SURROGATE.search(text):
                refuse(f"has the string {shown(text)}, expected text without NUL and halves of surrogate pairs")
        level = [item for value in level for item in _items(value)]
    if level:
        refuse(f"is nested deeper than {_MOST_DEPTH} levels, expected at most {_MOST_DEPTH}")
    return _lowered(read, 2)


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, dict) else []


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []


def _lowered(value: Any, levels: int) -> Any:
    if isinstance(value, list):
        return [_lowered(item, levels) for item in value]
    if not isinstance(value, dict) or not levels:
        return value
    return {key.casefold(): _lowered(item, levels - 1) for key, item in value.items()}


def _text(config: Mapping[str, Any], name: str) -> str:
    value = config.get(name)
    return value if isinstance(value, str) else ""
