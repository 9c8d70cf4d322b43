"""Workspace of a generator: inputs and outputs are hashed, and nothing remains of a run that fails."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import UsageError, shown
from evaluator.jsonl.tables import write_table

_CHUNK = 1 << 20
RECIPE = "recipe.json"


class _Hashed(io.RawIOBase):
    """An unbuffered file that counts and hashes the bytes that are read or written."""

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()
        self.bytes = 0

    def readable(self) -> bool:
        return self.file.readable()

    def writable(self) -> bool:
        return self.file.writable()

    def readinto(self, buffer: Any) -> int:
        count = self.file.readinto(buffer) or 0
        self._take(memoryview(buffer)[:count])
        return count

    def write(self, data: Any) -> int:
        count = self.file.write(data) or 0
        self._take(memoryview(data)[:count])
        return count

    def _take(self, data: memoryview) -> None:
        self.sha256.update(data)
        self.bytes += len(data)

    def close(self) -> None:
        self.file.close()
        super().close()


@dataclass
class _File:
    """An input or output file of a generator's run.

    role: the generator's name for an input; empty for outputs. name: the file's name without folders.
    """

    role: str
    name: str
    raw: _Hashed
    buffer: BinaryIO

    def described(self) -> dict[str, Any]:
        values = {"name": self.name, "bytes": self.raw.bytes, "sha256": self.raw.sha256.hexdigest()}
        return {"role": self.role, **values} if self.role else values


class Workspace:
    """Input files and the output folder of one run, as a context manager.

    Outputs are written to a hidden folder next to `folder`, which `finish` renames to `folder`; without `finish` it is
    deleted. folder: must not exist or must be empty; None: an audit that writes no outputs. keeps: True if there is a
    folder, so that outputs are kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder.resolve() if folder is not None else None
        self.keeps = folder is not None
        self._inputs: list[_File] = []
        self._outputs: list[_File] = []
        self._work: Path | None = None

    def __enter__(self) -> Workspace:
        if self.folder is not None:
            _check_free(self.folder)
            parent = self.folder.parent
            try:
                self._work = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}.", suffix=".partial", dir=parent))
            except OSError as error:
                raise UsageError(f"cannot write in {shown(str(parent))}: {error.strerror}") from None
            self._work.chmod(0o755 & ~_umask())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in (*self._inputs, *self._outputs):
            try:
                file.buffer.close()
            except OSError:  # a full disk was reported already by the write
                if kind is None:
                    raise
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)

    def input(self, role: str, path: Path) -> BinaryIO:
        """Open a file for reading once, from beginning to end; its SHA-256 goes into the recipe.

        role: the generator's name for the input, for the recipe. Raises UsageError if the file cannot be read.
        """
        try:
            raw = _Hashed(io.FileIO(path))
            if stat.S_ISDIR(os.fstat(raw.file.fileno()).st_mode):
                raise IsADirectoryError(0, "Is a directory")
        except OSError as error:
            raise UsageError(f"cannot read {shown(str(path))}: {error.strerror}") from None
        buffer = io.BufferedReader(raw, _CHUNK)
        self._inputs.append(_File(role, path.name, raw, buffer))
        return buffer

    def size(self, paths: Sequence[Path]) -> int:
        """Return the total size of files in bytes; unreadable ones count 0 and raise an error when they are opened."""
        return sum(path.stat().st_size if path.is_file() and os.access(path, os.R_OK) else 0 for path in paths)

    def output(self, name: str) -> BinaryIO:
        """Open a new file in the output folder for writing. The workspace closes it at the end if it is still open.

        Raises ValueError if there is no output folder, or already a file of this name.
        """
        if self._work is None:
            raise ValueError("this workspace has no output folder")
        if name == RECIPE or any(file.name == name for file in self._outputs):
            raise ValueError(f"the output {name} already exists, expected another name")
        raw = _Hashed(io.FileIO(self._work / name, "xb"))
        buffer = io.BufferedWriter(raw, _CHUNK)
        self._outputs.append(_File("", name, raw, buffer))
        return buffer

    def write_rows(self, name: str, rows: Iterable[Any]) -> None:
        """Write an output as JSON Lines, one line a row. rows: values that msgspec encodes, such as dicts.

        Without a folder, nothing is written. Raises ValueError if there already is an output of this name.
        """
        if self.keeps:
            encode = msgspec.json.Encoder().encode
            self.output(name).writelines(encode(row) + b"\n" for row in rows)

    def add_tables(self, kind: str) -> None:
        """Write each output in JSON Lines also as a table. kind: `csv`, `tsv`, `xlsx` or `parquet`.

        Raises UsageError for lines that the format cannot hold.
        """
        for name in [file.name for file in self._outputs if file.name.endswith(".jsonl")]:
            for file in self._outputs:
                file.buffer.close()
            assert self._work is not None, "a workspace with outputs has a folder"
            with (self._work / name).open("rb") as lines:
                table = write_table(lines, kind)
            self.output(f"{name.removesuffix('.jsonl')}.{kind}").write(table)

    def files(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return (inputs, outputs) as the recipe lists them: name, size and SHA-256, and for inputs the role.

        Inputs are read to their ends and outputs closed first.
        """
        for file in self._inputs:
            if not file.buffer.closed:
                while file.buffer.read(_CHUNK):
                    pass
        for file in self._outputs:
            file.buffer.close()
        return [file.described() for file in self._inputs], [file.described() for file in self._outputs]

    def finish(self, recipe: dict[str, Any]) -> None:
        """Write the recipe and rename the hidden folder of outputs, which completes the run; without a folder, do
        nothing.

        Raises UsageError if a file cannot be written or the folder not renamed, or if `folder` has been filled
        meanwhile.
        """
        if self._work is None or self.folder is None:
            return
        text = json.dumps(recipe, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with _os_errors_as_usage(self.folder):
            (self._work / RECIPE).write_text(text, encoding="utf-8")
            _check_free(self.folder)
            # rename() replaces an empty folder and fails for one that was filled meanwhile.
            self._work.rename(self.folder)
        self._work = None


def _check_free(folder: Path) -> None:
    try:
        occupied = any(folder.iterdir())
    except FileNotFoundError:
        occupied = False
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(folder))}: {error.strerror}") from None
    if occupied:
        raise UsageError(f"--output is {shown(str(folder))}, which is not empty, expected a new or an empty folder")


@contextmanager
def _os_errors_as_usage(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(folder))}: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
