"""The commands that a document shows, in their order, each with what it shows of their output.

```sh WALK [terminal]      run in the walk's shell; `terminal`: left running in one of its own
```text                    right after it: what it prints. `…` in a line stands for anything, alone for any lines
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^|\n)\n(?: {4}|\t)\S[^\n]*")


@dataclass(frozen=True)
class Block:
    """Some commands: where they stand, whose walk they are of, and the lines that they are said to print."""

    place: str
    walk: str
    stays: bool
    text: str
    shown: tuple[str, ...]


def blocks_of(document: Path) -> list[Block]:
    """Every `sh` block of a document. Raises ValueError for one of no walk, and for output without commands."""
    content = document.read_text(encoding="utf-8")
    found: list[Block] = []
    last_end = -1
    for match in FENCE.finditer(content):
        place = f"{document.name}:{content.count(chr(10), 0, match.start()) + 1}"
        kind, *words = match["info"].split() or [""]
        if kind == "sh":
            if not words or words[1:] not in ([], ["terminal"]):
                raise ValueError(f"{place}: the fence says {match['info']!r}; expected `sh WALK` or `sh WALK terminal`")
            found.append(Block(place, words[0], words[1:] == ["terminal"], match["text"], ()))
            last_end = match.end()
        elif kind == "text" and found and not content[last_end : match.start()].strip():
            last = found[-1]
            found[-1] = Block(last.place, last.walk, last.stays, last.text, tuple(match["text"].splitlines()))
    return found


def walk_of(document: Path, walk: str) -> list[Block]:
    return [block for block in blocks_of(document) if block.walk == walk]


def indented_code(document: Path) -> list[str]:
    """Code in the other notation of Markdown, which no test would run."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    return [found.strip() for found in INDENTED.findall(text)]


def missing(shown: tuple[str, ...], said: str) -> str | None:
    """The first line of what a document shows that did not come, in this order; None where all came.

    Lines may stand between those that are shown: a document leaves out what does not matter.
    """
    lines = iter(said.splitlines())
    for wanted in shown:
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if wanted.strip() != "…" and not any(pattern.fullmatch(line.rstrip()) for line in lines):
            return wanted
    return None
