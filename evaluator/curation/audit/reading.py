"""Reader of gold, or of a file in a published layout, as a split of any task."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.published_layouts import layout_of
from evaluator.jsonl.decompress import is_packed
from evaluator.tasks.base import Task

_HEAD = 1 << 16


def read_split(task: Task[Any, Any, Any], stream: BinaryIO, file: str, options: Mapping[str, Any]) -> AuditedSplit:
    """Read gold of the task, or a file in a published layout, and return it as a split.

    options: from `Task.parse_options`. Raises GoldError for an invalid file, and UsageError for an option that does not
    fit this gold.
    """
    stream, head = peek(stream, file)
    layout = layout_of(task.name, head)
    if layout is None:
        return AuditedSplit.of_task(task, file, task.read_gold(stream, file, options))
    published = layout(stream, file)
    # The gold is JSON Lines, whatever format the name of the published file ends in.
    split = AuditedSplit.of_task(task, file, task.read_gold(published.gold, f"{file} (as gold)", options))
    split.columns, split.first_line = published.columns, published.first_line
    split.published, split.has_ids = True, published.has_ids
    return split


def peek(stream: BinaryIO, file: str) -> tuple[BinaryIO, bytes]:
    """Return (a stream of the whole file, the file's first bytes, decompressed).

    The bytes are b"" if a gzip file is damaged. file: the file's name, which ends in .gz if it is compressed.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream, _HEAD)  # type: ignore[type-var]  # any readable will do
    head = buffered.peek(_HEAD)
    if is_packed(file):
        try:
            head = zlib.decompressobj(31).decompress(head, _HEAD)
        except zlib.error:
            head = b""
    return buffered, head
