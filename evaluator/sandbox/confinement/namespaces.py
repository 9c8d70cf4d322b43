"""Namespaces and the empty root of the server, which every forked job inherits.

Two steps are needed, since a process never enters the pid namespace that it creates: `leave_host` in the outer process,
then `empty_root` in its child. `choose` tries PLANS in throw-away processes and returns the first that this machine
permits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluator.sandbox.confinement import syscalls

NOBODY = 65534
_ALL = (
    syscalls.CLONE_NEWNET
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWCGROUP
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The namespaces to unshare.

    user: True for a user namespace that owns the others. rest: True for network, ipc, uts, cgroup, pid and mount
    namespaces.
    """

    user: bool
    rest: bool


PLANS = (Plan(user=True, rest=True), Plan(user=False, rest=True), Plan(user=False, rest=False))


def permitted(action: Callable[[], object]) -> bool:
    """Call `action` in a forked throw-away process, and return True if it raised no error there."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            action()
            status = 0
        except (OSError, KeyError, ValueError):
            status = 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


def choose() -> Plan:
    """Return the strictest of PLANS whose namespaces and empty root all work on this machine."""
    return next(plan for plan in PLANS if not plan.rest or permitted(partial(_rehearse, plan)))


def _rehearse(plan: Plan) -> None:
    leave_host(plan)
    if not permitted(empty_root):
        raise OSError("an empty root cannot be mounted")


def leave_host(plan: Plan) -> None:
    """Unshare the plan's namespaces. The new pid namespace holds only children that are forked later.

    The process must have one thread. Raises OSError, after which the process must not continue.
    """
    if not plan.rest:
        return
    if plan.user:
        _unshare_mapped(_ALL)
    else:
        syscalls.unshare(_ALL)


def _unshare_mapped(flags: int) -> None:
    """Unshare a user namespace that maps this process's own ids and, if it is root, those of nobody.

    A process inside the new namespace may map one id at most, so a helper process that stays outside writes the maps.
    Unsharing makes a process undumpable, and only root may write the maps of an undumpable process. So this process is
    set dumpable until the maps are written.
    """
    uid, gid, target = os.geteuid(), os.getegid(), os.getpid()
    go_read, go_write = os.pipe()
    helper = os.fork()
    if helper == 0:
        status = 1
        try:
            os.close(go_write)
            if os.read(go_read, 1) == b"g":
                _write_maps(target, uid, gid)
                status = 0
        except OSError:
            status = 1
        finally:
            os._exit(status)
    os.close(go_read)
    try:
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        os.write(go_write, b"g")
    finally:
        os.close(go_write)
        status = os.waitpid(helper, 0)[1]
    if status:
        raise OSError("the user namespace's maps were refused")
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)


def _write_maps(target: int, uid: int, gid: int) -> None:
    folder = Path("/proc", str(target))
    nobody = f"{NOBODY} {NOBODY} 1\n" if uid == 0 else ""
    if uid != 0:
        (folder / "setgroups").write_text("deny")
    (folder / "uid_map").write_text(f"{uid} {uid} 1\n{nobody}")
    (folder / "gid_map").write_text(f"{gid} {gid} 1\n{nobody}")


def empty_root() -> None:
    """Replace the root folder with an empty, read-only tmpfs, and detach the old root. Raises OSError."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    mount_point = next(folder for folder in ("/tmp", "/proc") if Path(folder).is_dir())  # noqa: S108 mounted over
    bare = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    syscalls.mount("none", mount_point, "tmpfs", bare, "size=4k,nr_inodes=2,mode=0555")
    os.chdir(mount_point)
    syscalls.pivot_root(".", ".")
    syscalls.umount(".", syscalls.MNT_DETACH)
    os.chdir("/")
    syscalls.mount("none", "/", None, syscalls.MS_REMOUNT | syscalls.MS_RDONLY | bare)
    if any(Path("/").iterdir()):
        raise OSError("the root is not empty")


class JobPids:
    """Pid namespaces of jobs: each job is pid 1 of its own namespace and sees no other process.

    Call `next_fork`, then fork, then `back`.
    """

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def next_fork(self) -> None:
        syscalls.unshare(syscalls.CLONE_NEWPID)

    def rehearse(self) -> None:
        """Raise OSError unless pid namespaces are permitted. To be called in a throw-away process, as a test."""
        self.next_fork()
        self.back()

    def back(self) -> None:
        """Undo `next_fork`: later forks are in the original namespace.

        This is needed because no process can be created in a namespace whose pid 1 has ended.
        """
        syscalls.setns(self._own, syscalls.CLONE_NEWPID)
