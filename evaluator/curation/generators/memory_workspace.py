"""A bench for work that may open no file: inputs are streams that are open already, outputs are kept in memory."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from evaluator.curation.generators.workspace import Bench
from evaluator.errors import UsageError, shown


class _Kept(io.BytesIO):
    """Bytes that are still there when it is closed."""

    kept = b""

    def close(self) -> None:
        if not self.closed:
            self.kept = self.getvalue()
        super().close()


class MemoryBench(Bench):
    """files: open streams by the path that a generator's arguments have for them; a path is a name here, no place."""

    def __init__(self, files: Mapping[Path, BinaryIO]) -> None:
        self.keeps = True
        self._streams = dict(files)
        self._made: dict[str, _Kept] = {}

    def __enter__(self) -> MemoryBench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return

    def input(self, role: str, path: Path) -> BinaryIO:
        """The stream, at its beginning."""
        if path not in self._streams:
            raise UsageError(f"cannot read {shown(str(path))}: it was not given")
        stream = self._streams[path]
        stream.seek(0)
        return stream

    def size(self, paths: Sequence[Path]) -> int:
        """Bytes in all."""
        return sum(self._streams[path].seek(0, os.SEEK_END) for path in paths if path in self._streams)

    def output(self, name: str) -> BinaryIO:
        """A new file, by name."""
        if name in self._made:
            raise ValueError(f"{name} is there already")
        self._made[name] = _Kept()
        return cast(BinaryIO, self._made[name])

    def outputs(self) -> dict[str, bytes]:
        """What was written, by name, in the order in which the files were begun."""
        for file in self._made.values():
            file.close()
        return {name: file.kept for name, file in self._made.items()}
