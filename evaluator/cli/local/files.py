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
from evaluator.jsonl.decompress import is_packed

_DEFAULT_OUTPUT = "predictions.jsonl"


def open_inputs(path: str, stack: ExitStack) -> BinaryIO:
    """Return the inputs file, opened read-only, as the sandbox requires, and decompressed, as a system expects.

    path: the file's path; one that ends in .gz is decompressed to a temporary file. stack: closes the file when it is
    closed itself. Raises UsageError if the file cannot be read or decompressed.
    """
    try:
        if not is_packed(path):
            return stack.enter_context(Path(path).open("rb"))
        plain = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
        with gzip.open(path) as packed:
            shutil.copyfileobj(packed, plain)
        plain.flush()
        return stack.enter_context(Path(plain.name).open("rb"))
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {shown(path)}: {why}") from None


def plain_name(path: str) -> str:
    """Return the name of a file that `open_inputs` has decompressed, if it was compressed."""
    return path[: -len(".gz")] if is_packed(path) else path


def predictions_path(output: str | None) -> Path:
    """Return the path to write predictions to: `output`, or predictions.jsonl in the working folder if that is None.

    A file that exists is overwritten only if `output` names it. So UsageError is raised if `output` is None and
    predictions.jsonl exists, and also if `output` is not in an existing folder.
    """
    path = Path(output or _DEFAULT_OUTPUT)
    if output is None and path.exists():
        raise UsageError(f"{_DEFAULT_OUTPUT} already exists, expected --output FILE to choose or overwrite a file")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--output is {shown(str(path))}, expected a file in an existing folder")
    return path


def save_predictions(source: BinaryIO, target: Path, name: str) -> Path:
    """Copy the predictions from `source` to `target`; return the path written.

    name: the file's name in the container. The path ends in `.gz` if and only if this name does. Raises UsageError if
    the file cannot be written.
    """
    plain = target.with_suffix("") if target.suffix == ".gz" else target
    output = plain.with_name(plain.name + ".gz") if name.endswith(".gz") else plain
    source.seek(0)
    try:
        with output.open("wb") as file:
            shutil.copyfileobj(source, file)
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(output))}: {error.strerror}") from None
    return output
