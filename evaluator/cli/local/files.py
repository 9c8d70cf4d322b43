"""Files of a local run: inputs and predictions."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from evaluator.errors import UsageError, shown

_DEFAULT_OUTPUT = "predictions.jsonl"


def open_inputs(path: str, stack: ExitStack) -> BinaryIO:
    """Open the inputs read-only, as the sandbox requires, and decompressed, as a system expects. Raises UsageError."""
    try:
        if not path.endswith(".gz"):
            return stack.enter_context(Path(path).open("rb"))
        plain = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
        with gzip.open(path) as packed:
            shutil.copyfileobj(packed, plain)
        plain.flush()
        return stack.enter_context(Path(plain.name).open("rb"))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {shown(path)}: {why}") from None


def predictions_path(output: str | None) -> Path:
    """Return the path for predictions. An existing file is overwritten only if it was named. Raises UsageError."""
    path = Path(output or _DEFAULT_OUTPUT)
    if output is None and path.exists():
        raise UsageError(f"{_DEFAULT_OUTPUT} already exists, expected --output FILE to choose or overwrite a file")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--output is {shown(str(path))}, expected a file in an existing folder")
    return path


def keep(source: BinaryIO, target: Path, name: str) -> Path:
    """Copy `made` to `wanted`, with `.gz` added or removed as in `name`; return the path. Raises UsageError."""
    plain = target.with_suffix("") if target.suffix == ".gz" else target
    output = plain.with_name(plain.name + ".gz") if name.endswith(".gz") else plain
    source.seek(0)
    try:
        with output.open("wb") as file:
            shutil.copyfileobj(source, file)
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(output))}: {error.strerror}") from None
    return output
