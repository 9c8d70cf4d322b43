"""The commands of a document in order, each with the output that the document shows.

```sh WALK [terminal]      run in the shell of this walk; `terminal`: left running in a separate one
```text                    directly after it: the output. `…` in a line matches any text, as a whole line any lines
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^|\n)\n(?: {4}|\t)\S[^\n]*")


@dataclass(frozen=True)
class Block:
    """Some commands: their location, their walk, and the output lines that the document shows."""

    location: str
    walk: str
    stays_open: bool
    text: str
    shown: tuple[str, ...]


def blocks_of(document: Path) -> list[Block]:
    """Return every `sh` block of a document. Raises ValueError for a block without a walk."""
    content = document.read_text(encoding="utf-8")
    blocks: list[Block] = []
    last_end = -1
    for match in FENCE.finditer(content):
        location = f"{document.name}:{content.count(chr(10), 0, match.start()) + 1}"
        kind, *words = match["info"].split() or [""]
        if kind == "sh":
            if not words or words[1:] not in ([], ["terminal"]):
                raise ValueError(
                    f"{location}: the fence is {match['info']!r}; expected `sh WALK` or `sh WALK terminal`"
                )
            blocks.append(Block(location, words[0], words[1:] == ["terminal"], match["text"], ()))
            last_end = match.end()
        elif kind == "text" and blocks and not content[last_end : match.start()].strip():
            last = blocks[-1]
            blocks[-1] = Block(last.location, last.walk, last.stays_open, last.text, tuple(match["text"].splitlines()))
    return blocks


def walk_of(document: Path, walk: str) -> list[Block]:
    return [block for block in blocks_of(document) if block.walk == walk]


def indented_code(document: Path) -> list[str]:
    """Return indented code blocks, which no test runs."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    return [code.strip() for code in INDENTED.findall(text)]


def missing(shown: tuple[str, ...], output: str) -> str | None:
    """Return the first shown line that the output lacks, in order; None if it has all of them.

    The output may have further lines in between: a document omits unimportant ones.
    """
    lines = iter(output.splitlines())
    for expected in shown:
        pattern = re.compile(".*".join(re.escape(part) for part in expected.split("…")))
        if expected.strip() != "…" and not any(pattern.fullmatch(line.rstrip()) for line in lines):
            return expected
    return None
