"""Decides whether an image or the server is at fault if an engine refuses the image.

Engines use the same HTTP statuses for both, so a table of messages decides. Its rows are messages of Docker 20.10 that
only the image's content causes. For any other message, such as one about the storage driver, a lost connection or a
missing runtime, the server is at fault.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from evaluator.sandbox.containers.engine import EngineError
from evaluator.sandbox.containers.image_errors import EngineRefusalError


class Step(enum.StrEnum):
    """The operation that the engine refused."""

    LOAD = "unpack the image"
    CREATE = "create a container of the image"
    START = "start the image's container"


@dataclass(frozen=True)
class _Row:
    """A message of the engine for which the image is at fault.

    step: the operation that gives the message. pattern: a regular expression for the message. reason: the fault, for
    the image's author. is_ambiguous: True if a broken engine can give the message too; then the image is at fault only
    if the engine passes its health check.
    """

    step: Step
    pattern: str
    reason: str
    is_ambiguous: bool = False


# Any of these means that the host is at fault, whatever else the message says.
_HOST = re.compile(
    r"no space left|input/output error|cannot allocate memory|disk quota exceeded|too many open files|"
    r"resource temporarily unavailable|connection refused|context deadline exceeded|structure needs cleaning|"
    # The NVIDIA runtime's hook, unless the image requires another driver.
    r"nvidia-container-(cli|runtime)(?!.*requirement error)|unresolvable cdi devices|could not select device driver"
)
AT_MOUNT_POINTS = "check WORKDIR, and the image's content at /input, /output and /tmp"
_PATH = "not a directory|is a directory|file name too long|invalid argument|too many levels of symbolic links"
_TAR = (
    f"{_PATH}|no such file or directory|file exists|argument list too long|operation not permitted|"
    "operation not supported|numerical result out of range|invalid tar header|breakout"
)
_TABLE = (
    # The layer store allows 125 layers.
    _Row(Step.LOAD, "max depth exceeded", "it has too many layers"),
    # The config is parsed into Go's types; `image_config` has the same, for the fields that it knows.
    _Row(Step.LOAD, "json: cannot unmarshal|parsing time", "its config has a value of a wrong type"),
    _Row(Step.LOAD, "too many non-empty layers in History", "its history has more entries than it has layers"),
    # Layers are unpacked in a process of their own, which reports the error of one file.
    _Row(
        Step.LOAD,
        rf"Error processing tar file\(exit status \d+\): (?s:.*)({_TAR})",
        "a layer has a file that cannot be unpacked: a link to a missing file, a file below a file, or an invalid name "
        "or attribute",
    ),
    _Row(Step.LOAD, "duplicates of file paths not supported", "a layer has the same path twice"),
    _Row(Step.CREATE, "No command specified", "it has no command, expected ENTRYPOINT or CMD"),
    # WORKDIR is created in the image's files.
    _Row(
        Step.CREATE,
        rf"^Cannot mkdir: |^(lstat|stat|mkdir) (?s:.*): ({_PATH})$|evalSymlinksInScope: too many links",
        "its WORKDIR cannot be a folder: part of its path is a file, a loop of links, or too long",
    ),
    # The user is looked up in the image's files, although it is given by its number.
    _Row(Step.START, "unable to find user", "its /etc/passwd or /etc/group cannot be read"),
    _Row(
        Step.START,
        "nvidia-container-cli: requirement error",
        "its NVIDIA_REQUIRE_... variables ask for another driver or CUDA version than this server has",
    ),
    # The runtime's errors quote the image as well as the host: "not a directory" at a mount point, "exec format error".
    _Row(
        Step.START,
        "OCI runtime (create|start) failed|unable to start container process",
        AT_MOUNT_POINTS,
        is_ambiguous=True,
    ),
)


@dataclass(frozen=True)
class Refusal:
    """A refusal for which the image is at fault; if `is_ambiguous`, only if the engine passes its health check."""

    reason: str
    is_ambiguous: bool


def find(step: Step, error: EngineError) -> Refusal | None:
    """Return the refusal if the image is at fault for the engine's error; None if the server is."""
    message = error.engine_message
    if not message or _HOST.search(message.casefold()):
        return None
    for row in _TABLE:
        if row.step is step and re.search(row.pattern, message):
            return Refusal(row.reason, row.is_ambiguous)
    return None


def raise_if_image_is_at_fault(step: Step, error: EngineError) -> None:
    """Raise EngineRefusalError if the image is at fault for an error of the engine."""
    refusal = find(step, error)
    if refusal is not None:
        raise EngineRefusalError(f"the engine refuses to {step}: {refusal.reason}") from None
