"""In-memory workspace for code that may not open files: inputs are open streams, outputs are buffers."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import UsageError, shown


class _MemoryFile(io.BytesIO):
    """A buffer whose bytes are still available after it is closed."""

    content = b""

    def close(self) -> None:
        if not self.closed:
            self.content = self.getvalue()
        super().close()


class MemoryWorkspace(Workspace):
    """Workspace of a generator whose inputs and outputs are in memory.

    files: path in the generator's arguments -> open stream. Paths are only names here; no file is opened.
    """

    def __init__(self, files: Mapping[Path, BinaryIO]) -> None:
        self.keeps = True
        self._streams = dict(files)
        self._written_files: dict[str, _MemoryFile] = {}

    def __enter__(self) -> MemoryWorkspace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return

    def input(self, role: str, path: Path) -> BinaryIO:
        """Return the stream for a path of the generator's arguments, rewound. role: not used.

        Raises UsageError if there is no stream for the path.
        """
        if path not in self._streams:
            raise UsageError(f"cannot read {shown(str(path))}: the generator did not get a file of this name")
        stream = self._streams[path]
        stream.seek(0)
        return stream

    def size(self, paths: Sequence[Path]) -> int:
        """Return the total size of the streams for these paths, in bytes."""
        return sum(self._streams[path].seek(0, os.SEEK_END) for path in paths if path in self._streams)

    def output(self, name: str) -> BinaryIO:
        """Return a new buffer for the output of this name. Raises ValueError if there already is one."""
        if name in self._written_files:
            raise ValueError(f"the output {name} already exists, expected another name")
        self._written_files[name] = _MemoryFile()
        return cast(BinaryIO, self._written_files[name])

    def outputs(self) -> dict[str, bytes]:
        """Return name of an output -> the bytes written to it, in the order of creation, and close the outputs."""
        for file in self._written_files.values():
            file.close()
        return {name: file.content for name, file in self._written_files.items()}
