"""A shell that keeps its folder, variables and background processes between the blocks of a document."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.docs.blocks import Block, missing

PATIENCE = 300.0


class Shell:
    """bash in a folder. substitutions: text of the document -> its replacement, for example a port."""

    def __init__(self, folder: Path, substitutions: Mapping[str, str], **environment: str) -> None:
        self.folder, self.substitutions = folder, dict(substitutions)
        self.environment = {**clean_environment(), **environment}
        self.terminals: list[subprocess.Popen[bytes]] = []
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, block: Block) -> str:
        """Run a block and return its output. Fails if a command fails or the output lacks a shown line."""
        output = self._run_in_terminal(block) if block.stays_open else self._run_in_shell(block)
        lacking = missing(tuple(self._substituted(line) for line in block.shown), output)
        if lacking is not None:
            pytest.fail(f"{block.location}: the output lacks {lacking!r}:\n{output[-6000:]}")
        return output

    def _substituted(self, text: str) -> str:
        for text_of_document, replacement in self.substitutions.items():
            text = text.replace(text_of_document, replacement)
        return text

    def _run_in_shell(self, block: Block) -> str:
        mark = f"done-{uuid.uuid4().hex}"
        # The trap reports any failing command, also in the middle; changes of variables and the folder persist. The
        # script is a file, because a command that reads stdin, such as `docker compose exec -T`, would consume the
        # following lines.
        script = self.folder / f".{mark}"
        script.write_text(f"__failed=0; trap '__failed=$?' ERR\n{self._substituted(block.text)}\ntrap - ERR\n")
        assert self.process.stdin is not None
        self.process.stdin.write(f". '{script}' </dev/null; echo; echo {mark} $__failed\n".encode())
        self.process.stdin.flush()
        output = self._until(mark, block)
        script.unlink()
        text, status = re.split(rf"\n?{mark} ", output, maxsplit=1)
        if int(status.split()[0]):
            pytest.fail(f"{block.location}: a command ended with status {status.strip()}:\n{text[-6000:]}")
        return text

    def _until(self, mark: str, block: Block) -> str:
        assert self.process.stdout is not None
        output, deadline = b"", time.monotonic() + PATIENCE
        while not re.search(rf"{mark} \d+\n".encode(), output):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not piece:
                pytest.fail(
                    f"{block.location}: no end after {PATIENCE:.0f} s:\n{output.decode(errors='replace')[-6000:]}"
                )
            output += piece
        return output.decode(errors="replace")

    def _run_in_terminal(self, block: Block) -> str:
        """Start the block in a separate terminal, and wait until it has printed the last shown line."""
        log = self.folder / f".terminal-{len(self.terminals)}"
        with log.open("wb") as output:
            terminal = subprocess.Popen(
                ["bash", "-c", f"exec {self._substituted(block.text)}"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.terminals.append(terminal)
        expected, deadline = tuple(self._substituted(line) for line in block.shown), time.monotonic() + PATIENCE
        while missing(expected, log.read_text(errors="replace")) and time.monotonic() < deadline:
            if terminal.poll() is not None:
                break
            time.sleep(0.1)
        return log.read_text(errors="replace")

    def close(self) -> None:
        for terminal in self.terminals:
            if terminal.poll() is None:
                terminal.send_signal(signal.SIGINT)
        for terminal in self.terminals:
            with contextlib.suppress(subprocess.TimeoutExpired):
                terminal.wait(60)
        for process in [self.process, *self.terminals]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def shell(folder: Path, substitutions: Mapping[str, str], **environment: str) -> Iterator[Shell]:
    """Open a shell, and finally close it with all processes that it left running."""
    opened = Shell(folder, substitutions, **environment)
    try:
        yield opened
    finally:
        opened.close()


def clean_environment() -> dict[str, str]:
    """Return a user's environment, without the settings of the tests."""
    ours = ("HOLDOUT_", "DJANGO_", "PYTEST_", "TEST_", "VIRTUAL_ENV", "PYTHONPATH", "AWS_", "RCLONE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}
