"""Tests of reading commands and their output from a document, and of the shell's errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of, indented_code, missing
from tests.docs.shell import shell

PAGE = """# A page

```sh here
echo one; echo two
```

```text
one
```

Some words.

```text
NAME [OPTION]
```

```sh there terminal
serve
```
"""


def page(tmp_path: Path, content: str) -> Path:
    (tmp_path / "page.md").write_text(content)
    return tmp_path / "page.md"


def test_blocks_have_location_walk_and_output(tmp_path: Path) -> None:
    first, second = blocks_of(page(tmp_path, PAGE))
    assert first == Block("page.md:3", "here", False, "echo one; echo two\n", ("one",))
    assert second == Block("page.md:17", "there", True, "serve\n", ())


@pytest.mark.parametrize("info", ["sh", "sh here later", "sh here terminal now"])
def test_commands_of_no_walk_are_an_error(tmp_path: Path, info: str) -> None:
    with pytest.raises(ValueError, match=r"page.md:1: the fence is"):
        blocks_of(page(tmp_path, f"```{info}\ntrue\n```\n"))


def test_indented_code_is_found(tmp_path: Path) -> None:
    assert indented_code(page(tmp_path, "Words:\n\n    rm -r var\n\n1. An item\n   goes on\n")) == ["rm -r var"]
    assert indented_code(page(tmp_path, PAGE)) == []


@pytest.mark.parametrize(
    ("shown", "output", "lacking"),
    [
        ("one\nthree", "one\ntwo\nthree", None),
        ("three\none", "one\ntwo\nthree", "one"),
        ("t…e", "one\nthree", None),
        ("one", "one and a half", "one"),
        ("one…", "one and a half", None),
        ("a.c", "abc", "a.c"),
        ("one\none", "one", "one"),
        ("…\none", "two\none", None),
    ],
)
def test_shown_lines_must_occur_in_order(shown: str, output: str, lacking: str | None) -> None:
    assert missing(tuple(shown.splitlines()), output) == lacking


@pytest.mark.parametrize(
    "text", ["false; true", "(exit 3)\necho after", "cd nowhere 2>/dev/null\n:", "echo a | grep b"]
)
def test_a_command_that_fails_in_the_middle_fails_the_walk(tmp_path: Path, text: str) -> None:
    with shell(tmp_path, {}) as opened, pytest.raises(pytest.fail.Exception, match=r"page.md:1: a command ended"):
        opened.run(Block("page.md:1", "here", False, text, ()))


def test_shell_keeps_state_between_blocks(tmp_path: Path) -> None:
    with shell(tmp_path, {"8000": "8123"}) as opened:
        opened.run(Block("page.md:1", "here", False, "mkdir in && cd in && PORT=8000", ()))
        assert (
            opened.run(Block("page.md:5", "here", False, 'echo "$PORT $(basename "$PWD")"', ("8000 in",))).strip()
            == "8123 in"
        )
        with pytest.raises(pytest.fail.Exception, match=r"page.md:9: the output lacks 'two'"):
            opened.run(Block("page.md:9", "here", False, "echo one", ("two",)))


def test_command_that_reads_stdin_does_not_consume_later_lines(tmp_path: Path) -> None:
    with shell(tmp_path, {}) as opened:
        output = opened.run(Block("page.md:1", "here", False, "cat\necho the rest", ()))
    assert output.strip() == "the rest"
