"""Wrong and unusual outputs of a system."""

from __future__ import annotations

import gzip

import pytest

from evaluator.sandbox.contract import Verdict
from tests.container.systems.running import INPUTS, Systems

pytestmark = pytest.mark.hostile


@pytest.mark.parametrize("to", ["/etc/passwd", "/input/inputs.jsonl", "/output/other", "/proc/1/environ", "../../etc"])
def test_output_as_symlink(systems: Systems, to: str) -> None:
    done = systems.run("output_symlink", to=to)
    assert (done.result.verdict, done.content) == (Verdict.OUTPUT, b"")
    assert "is a symlink, expected a regular file" in done.result.explanation
    assert to not in done.result.explanation


@pytest.mark.parametrize(("do", "kind"), [("output_fifo", "FIFO"), ("output_folder", "folder")])
def test_output_as_fifo_or_folder(systems: Systems, runtime: str, do: str, kind: str) -> None:
    done = systems.run(do)
    assert (done.result.verdict, done.content) == (Verdict.OUTPUT, b"")
    wrong = f"its predictions.jsonl is a {kind}, expected a regular file"
    # A FIFO of gVisor exists only in its own memory.
    inside = {"it wrote no /output/predictions.jsonl"} if (runtime, kind) == ("runsc", "FIFO") else set()
    assert done.result.explanation in {wrong} | inside


def test_output_as_socket(systems: Systems) -> None:
    """A tar archive cannot contain sockets, so an engine sends none."""
    done = systems.run("output_socket")
    assert done.result.verdict in {Verdict.OUTPUT, Verdict.EXIT}
    assert done.content == b""


def test_output_as_hard_link(systems: Systems, runtime: str) -> None:
    """A hard link to a file in the same folder is that file; gVisor may refuse to create one."""
    done = systems.run("output_hard_link")
    if runtime == "runc":
        assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)
    assert done.content in {b"", INPUTS}


@pytest.mark.parametrize("do", ["output_hard_link_outside", "output_device"])
def test_output_that_cannot_be_created(systems: Systems, do: str) -> None:
    done = systems.run(do)
    assert (done.result.verdict, done.content) == (Verdict.EXIT, b"")


def test_no_output(systems: Systems) -> None:
    result = systems.run("output_nothing").result
    assert (result.verdict, result.explanation) == (Verdict.OUTPUT, "it wrote no /output/predictions.jsonl")


def test_names_with_newline_and_ansi(systems: Systems) -> None:
    done = systems.run("odd_names")
    assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)


def test_packed_output(systems: Systems) -> None:
    done = systems.run("packed")
    assert done.result.output_name == "predictions.jsonl.gz"
    assert gzip.decompress(done.content) == INPUTS
