"""hostile.md, the scorer sandbox: resources that a job must not reach. Each attack first works outside the sandbox."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox.confinement import seccomp, syscalls
from evaluator.sandbox.contract import Verdict
from tests.evaluator.sandbox.process.conftest import SECRET, Box
from tests.evaluator.sandbox.process.variants import AS_NOBODY

pytestmark = pytest.mark.hostile

HERE = Path(__file__).resolve().parent
NAMES = [
    line.split('"')[1]
    for line in (HERE / "hostile_jobs.py").read_text().splitlines()
    if line.startswith('    "') and ": lambda a: " in line
]
# These need privileges that a plain process of this machine may lack, or files that only a job has.
ONLY_INSIDE = {
    "move_offset", "move_offset_by_reading", "write_gold", "truncate_gold", "own_file_again", "mapped_shared",
    "chmod_gold", "duplicate", "io_uring", "open_by_handle", "signal_everybody",
}  # fmt: skip


def arguments(neighbours: dict[str, Any], tmp_path: Path, pid: int) -> dict[str, Any]:
    return {**neighbours, "new": f"{neighbours['folder']}/{tmp_path.name}", "pid": pid}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONLY_INSIDE])
def test_attack_is_real(name: str, neighbours: dict[str, Any], tmp_path: Path) -> None:
    """Otherwise its refusal in the sandbox would prove nothing."""
    attack_arguments = arguments(neighbours, tmp_path, os.getpid())
    result = subprocess.run(
        [sys.executable, str(HERE / "hostile_jobs.py"), name, json.dumps(attack_arguments)],
        capture_output=True,
        check=True,
    )
    outcome = json.loads(result.stdout.splitlines()[-1])
    if outcome.get("errno") in {errno.EPERM, errno.EACCES, errno.ENOSYS}:
        pytest.skip("this machine refuses it to every process")
    assert "loot" in outcome


@pytest.mark.parametrize("name", NAMES)
def test_attack_is_refused(name: str, box: Box, neighbours: dict[str, Any], tmp_path: Path, file: Any) -> None:
    gold = file(b"SUPPORTS")
    attack_arguments = arguments(neighbours, tmp_path, box.server.pid)
    result = box.run("attack", {"gold": gold}, name=name, **attack_arguments)
    assert result.verdict == Verdict.DONE
    assert result.report is not None
    assert "loot" not in result.report
    assert result.report["refused"] in {"PermissionError", "RuntimeError", "FileNotFoundError", "OSError"}
    assert not Path(attack_arguments["new"]).exists()
    assert os.read(gold, 100) == b"SUPPORTS"


def test_every_other_system_call_is_refused(box: Box) -> None:
    column = seccomp.COLUMN[syscalls.machine()]
    known = [*seccomp.CALLS.values(), *seccomp.WRITES.values(), *seccomp.MAPPINGS.values()]
    allowed = [number for numbers in known if (number := numbers[column]) is not None]
    # Kernels from 6.11 let these pass any filter; outside a probe's trampoline they have no effect.
    uretprobe_and_uprobe = [335, 336] if syscalls.machine() == "x86_64" else []
    result = box.run("every_call", allowed=allowed + uretprobe_and_uprobe, to=600)
    assert result.report == {"strange": {}}


def test_a_call_of_a_foreign_table_ends_the_job(box: Box) -> None:
    if syscalls.machine() != "x86_64":
        pytest.skip("x32 is a table of x86_64")
    assert box.run("die", how="foreign_table").verdict == Verdict.EXIT


def test_surroundings(box: Box, file: Any) -> None:
    result = box.run("surroundings", {"gold": file(b"a"), "predictions": file(b"b")})
    report = result.report or {}
    assert SECRET not in json.dumps(report)
    assert {name for name in report["environment"] if "HOLDOUT" in name} == set()
    assert report["descriptors"] == [0, 1, 2, 3, 4, 5, 6]
    assert report["threads"] == 1
    assert (report["uid"] == 0) is (not box.environment.user and not result.layers["uid_drop"])
    if result.layers["uid_drop"]:
        assert report["uid"] == 65534
    if result.layers["pid_namespace"]:
        assert (report["pid"], report["parent"]) == (1, 0)


def test_layers_match_the_environment(box: Box) -> None:
    """Exactly the layers that the environment refuses to the server are reported as missing."""
    layers = box.client.layers()
    assert all(layers[name] is True for name in ("no_new_privs", "rlimits", "seccomp", "descriptors"))
    as_user = AS_NOBODY if box.environment.user and os.geteuid() == 0 else ()
    command = [*as_user, "unshare", "--user", "--mount", "--net", "--ipc", "--pid", "--fork", "true"]
    permitted = (
        not box.environment.refused
        and subprocess.run(command, check=False, cwd="/", stderr=subprocess.DEVNULL).returncode == 0
    )
    for name in ("user_namespace", "namespaces", "empty_root", "pid_namespace"):
        assert layers[name] is permitted, name
    assert layers["uid_drop"] is (not box.environment.user)
    if "landlock" in box.environment.refused:
        assert layers["landlock"] is False
    assert box.run("empty").layers == layers


@pytest.mark.root
def test_the_server_holds_no_data_of_a_job(box: Box, file: Any) -> None:
    """The server forks before it reads an order, so its memory holds nothing that a later job could find."""
    gold = file(b"canary-in-" + b"the-gold")
    result = box.run("echo", {"gold": gold}, secret="canary-in-" + "the-arguments")
    assert result.report is not None and result.report["files"]["gold"] == "canary-in-the-gold"
    for pid in family(box.server.pid):
        memory = memory_of(pid)
        assert b"evaluator.sandbox" in memory, "the scan does not read the memory"
        assert b"canary-in-the-gold" not in memory
        assert b"canary-in-the-arguments" not in memory
        assert b"canary-of-the-environment" not in memory
        assert b"canary-of-the-environment" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_later_job_finds_nothing_of_an_earlier_one(box: Box, file: Any) -> None:
    box.run("echo", {"gold": file(b"leftover-of-gold")}, secret="leftover-of-arguments")
    for other_half in ("of-gold", "of-arguments"):
        assert box.run("leftovers", half="leftover-", other_half=other_half).report == {"found": []}


def family(pid: int) -> list[int]:
    """The process and its descendants."""
    children = [int(p) for t in Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    return [pid, *(member for child in children for member in family(child))]


def memory_of(pid: int) -> bytes:
    if not readable(Path(f"/proc/{pid}/mem")):
        pytest.skip("needs CAP_SYS_PTRACE")
    pieces = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, mode = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if mode.startswith("rw"):
                try:
                    memory.seek(start)
                    pieces.append(memory.read(end - start))
                except OSError:
                    continue
    return b"".join(pieces)


def readable(path: Path) -> bool:
    try:
        path.open("rb").close()
    except PermissionError:
        return False
    return True
