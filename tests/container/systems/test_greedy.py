"""Systems that exceed their limits: each is stopped in time, and nothing is left on the host."""

from __future__ import annotations

import pytest

from evaluator.sandbox.containers.system_contract import PublicClass
from evaluator.sandbox.contract import Verdict
from tests.container.systems.running import INPUTS, LIMITS, Systems

pytestmark = pytest.mark.hostile

STOPPED = {"wall_seconds": 4.0}
IN_TIME = STOPPED["wall_seconds"] + 10


def test_fork_bomb(systems: Systems) -> None:
    result = systems.run("fork_bomb", limits=STOPPED).result
    assert result.verdict in {Verdict.TIME, Verdict.EXIT, Verdict.MEMORY}
    assert result.wall_seconds < IN_TIME


def test_memory(systems: Systems) -> None:
    result = systems.run("memory", limits={"memory_bytes": 64 << 20}).result
    assert result.verdict == Verdict.MEMORY
    assert result.public_class == PublicClass.LIMIT
    assert "67108864 bytes of memory" in result.explanation


def test_child_killed_for_memory_does_not_end_the_system(systems: Systems, runtime: str) -> None:
    if runtime == "runsc":
        pytest.skip("gVisor is one process to the host, which is killed as a whole")
    assert systems.run("memory_of_a_child", limits={"memory_bytes": 64 << 20}).found == -9


def test_tmpfs_fill(systems: Systems) -> None:
    sizes = systems.run("fill_tmp").found
    assert 0 < sizes["bytes"] <= LIMITS["tmp_bytes"]
    assert 0 < sizes["shared"] <= 64 << 20


def test_output_fill(systems: Systems) -> None:
    done = systems.run("fill_output")
    assert done.result.verdict == Verdict.DONE
    assert 0 < int(done.result.log) <= LIMITS["output_bytes"]


def test_inode_flood_and_100_000_output_files(systems: Systems, runtime: str) -> None:
    done = systems.run("inode_flood")
    if runtime == "runsc" and done.result.verdict == Verdict.MEMORY:
        return  # gVisor keeps /tmp in its own memory, whose limit applies
    assert 0 < done.found["/output"] <= LIMITS["output_files"]
    assert 0 < done.found["/tmp"] <= 100_000


def test_sparse_output_of_a_terabyte(systems: Systems) -> None:
    done = systems.run("sparse")
    assert (done.result.verdict, done.content) == (Verdict.OUTPUT, b"")
    assert "is too large, expected at most 1048576" in done.result.explanation


def test_stdout_and_stderr_flood(systems: Systems) -> None:
    done = systems.run("flood_log")
    assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS)
    assert done.result.log_is_cut
    assert 1000 < len(done.result.log.encode()) <= 64 << 10


def test_endless_log_line(systems: Systems) -> None:
    done = systems.run("endless_line")
    assert done.result.verdict == Verdict.DONE
    assert set(done.result.log) <= {"y", "\n"}


def test_ansi_is_removed_from_the_log(systems: Systems) -> None:
    log = systems.run("flood_log").result.log
    assert "red" in log and "tail-" in log
    assert not set(log) - {"\n", "\t"} & {chr(code) for code in [*range(32), 0x7F, *range(0x80, 0xA0)]}
    assert "title" not in log and "[31m" not in log


def test_system_that_ignores_all_signals(systems: Systems) -> None:
    result = systems.run("deaf", limits=STOPPED).result
    assert (result.verdict, result.exit_code) == (Verdict.TIME, None)
    assert STOPPED["wall_seconds"] - 1 < result.wall_seconds < IN_TIME


def test_daemonises_with_setsid(systems: Systems) -> None:
    """All processes end with the first one; the output is complete, perhaps with late lines after it."""
    done = systems.run("daemonise")
    assert done.result.verdict == Verdict.DONE
    assert done.content[: len(INPUTS)] == INPUTS
    assert set(done.content[len(INPUTS) :].split(b"\n")) <= {b"late", b""}


def test_daemonises_and_stays(systems: Systems) -> None:
    result = systems.run("daemonise_and_stay", limits=STOPPED).result
    assert result.verdict == Verdict.TIME
    assert result.wall_seconds < IN_TIME


@pytest.mark.parametrize("status", [1, 2, 77, 139, 255])
def test_exit_codes_collapse(systems: Systems, status: int) -> None:
    result = systems.run("leave", status=status).result
    assert (result.verdict, result.public_class) == (Verdict.EXIT, PublicClass.ERROR)
    assert result.explanation == "it ended with a non-zero exit status"
    assert result.exit_code == status
