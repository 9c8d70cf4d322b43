"""A system can see, write to and connect to nothing outside its own container."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.container.systems.running import Done, Systems

pytestmark = pytest.mark.hostile

# Numbers of x86_64. 0x10000000 is CLONE_NEWUSER, 0x20000 CLONE_NEWNS, 17 SIGCHLD.
CALLS: dict[str, list[Any]] = {
    "unshare": [272, 0x10000000],
    "unshare_mount": [272, 0x20000],
    "mount": [165, "buffer", "buffer", "buffer", 0, 0],
    "umount2": [166, "buffer", 0],
    "pivot_root": [155, "buffer", "buffer"],
    "chroot": [161, "buffer"],
    "setns": [308, 0, 0],
    "keyctl": [250, 0, -3, 0],
    "add_key": [248, "buffer", "buffer", "buffer", 1, -3],
    "request_key": [249, "buffer", "buffer", "buffer", -3],
    "bpf": [321, 0, "buffer", 120],
    "io_uring_setup": [425, 8, "buffer"],
    "io_uring_enter": [426, 0, 1, 1, 0, 0],
    "perf_event_open": [298, "buffer", 0, -1, -1, 0],
    "userfaultfd": [323, 1],
    "ptrace": [101, 0, 0, 0, 0],
    "process_vm_readv": [310, 1, "buffer", 0, "buffer", 0, 0],
    "open_by_handle_at": [304, -100, "buffer", 0],
    "init_module": [175, "buffer", 10, "buffer"],
    "kexec_load": [246, 0, 0, "buffer", 0],
    "reboot": [169, 0, 0, 0, 0],
    "swapon": [167, "buffer", 0],
    "settimeofday": [164, "buffer", 0],
    "sethostname": [170, "buffer", 4],
    "move_mount": [429, -100, "buffer", -100, "buffer", 0],
    "fsopen": [430, "buffer", 0],
    "clone_new_user": [56, 0x10000011, 0, 0, 0, 0],
}


def test_no_capability_seccomp_on_no_new_privileges(systems: Systems, runtime: str) -> None:
    status = systems.run("surroundings").found["status"]
    assert status["Uid"].split() == status["Gid"].split() == ["65534"] * 4
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")} == {0}
    if runtime == "runc":  # gVisor's filter is around its own kernel, and its programs cannot see it
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")


def test_dangerous_system_calls_are_denied(systems: Systems, runtime: str) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of the calls are those of x86_64")
    answers = systems.run("calls", calls=CALLS).found
    if runtime == "runc":
        assert answers == dict.fromkeys(CALLS, "EPERM")
        return
    # gVisor's own kernel handles these calls; new namespaces exist inside it.
    inside = {"unshare", "unshare_mount", "clone_new_user", "ptrace", "io_uring_setup"}
    assert {name for name, answer in answers.items() if answer == "done"} <= inside


def test_writable_paths(systems: Systems, runtime: str) -> None:
    paths = systems.run("write_everywhere").found
    ours = {"/tmp", "/output", "/dev/shm", "/dev/mqueue"}
    if runtime == "runsc":
        ours |= {"/dev/fuse", "/dev/net/tun"}  # devices of its own kernel
    devices = {
        f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "fd", "ptmx", "pts/ptmx")
    }
    assert set(paths) <= ours | devices
    assert {"/tmp", "/output"} <= set(paths)


def test_isolation_from_host_and_other_processes(systems: Systems) -> None:
    surroundings = systems.run("surroundings").found
    assert surroundings["interfaces"] == ["lo"]
    assert surroundings["processes"] == [str(surroundings["pid"])] == ["1"]
    assert surroundings["hostname"] == "system"
    assert surroundings["groups"] in ([], [65534])
    assert surroundings["sockets"] == []  # in particular no docker.sock
    for secret in ("HOLDOUT_SECRET_KEY", "HOLDOUT_DATABASE_URL", "DOCKER_HOST", "HTTP_PROXY"):
        assert secret not in surroundings["environment"]
    assert systems.instance not in str(surroundings)


def test_metadata_address_bridge_and_dns(systems: Systems) -> None:
    targets = [
        ["metadata", "169.254.169.254", 80],
        ["bridge", "172.17.0.1", 22],
        ["host", "127.0.0.1", 2375],
        ["public", "1.1.1.1", 53],
        ["ipv6", "fd00:ec2::254", 80],
    ]
    answers = systems.run("reach_out", targets=targets).found
    assert {name: answer for name, answer in answers.items() if answer in ("connected", "opened")} in (
        {},
        {"netlink": "opened"},  # gVisor's own, which shows only the interfaces of its own kernel
    )
    assert answers["dns"] == "gaierror"


def test_gold_on_the_host_is_not_reachable(systems: Systems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The canary is in a gold folder and in the worker's environment."""
    half, other_half = "canary-in-", os.urandom(8).hex()
    gold = tmp_path / "files" / "gold"
    gold.mkdir(parents=True)
    (gold / "test.jsonl").write_text(half + other_half)
    monkeypatch.setenv("HOLDOUT_CANARY", half + other_half)
    assert systems.run("search", half=half, other_half=other_half).found == []


def test_search_finds_a_canary_in_the_inputs(systems: Systems) -> None:
    """The control of the search: without it, an empty result would prove nothing."""
    with systems.inputs.open("ab") as inputs:
        inputs.write(b'{"id": "canary-in-the-inputs"}\n')
    paths = systems.run("search", half="canary-in-", other_half="the-inputs").found
    systems.inputs.write_bytes(systems.inputs.read_bytes().replace(b'{"id": "canary-in-the-inputs"}\n', b""))
    assert paths == ["/input/inputs.jsonl"]


def test_files_do_not_persist_to_the_next_run(systems: Systems) -> None:
    assert systems.run("leave_marks").content
    assert systems.run("find_marks").found == []


def test_concurrent_systems_share_nothing(systems: Systems) -> None:
    done: dict[str, Done] = {}

    def run(mine: str, other: str) -> None:
        done[mine] = systems.run("meet", mine=mine, other=other, seconds=4)

    tenants = [threading.Thread(target=run, args=pair) for pair in (("ada", "bob"), ("bob", "ada"))]
    for tenant in tenants:
        tenant.start()
    for tenant in tenants:
        tenant.join()
    for name in ("ada", "bob"):
        assert done[name].found == {"found": [], "shared": True, "segments": 1}
