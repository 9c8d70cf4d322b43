"""Which layers of confinement a job has here: those that are always required, and those the machine permits."""

from __future__ import annotations

import os
from dataclasses import dataclass

from evaluator.sandbox.confinement import landlock, syscalls
from evaluator.sandbox.confinement.namespaces import NOBODY, JobPids, Plan, permitted

REQUIRED = ("no_new_privs", "rlimits", "seccomp", "descriptors")


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The best-effort layers. What was found to hold at the start must hold for every job."""

    user_namespace: bool
    namespaces: bool  # network, ipc, uts, cgroup, mount
    empty_root: bool
    pid_namespace: bool  # one a job
    uid_drop: bool
    landlock: int  # ABI, 0 = none

    def report(self) -> dict[str, bool | str]:
        """All layers by name, as recorded with a run."""
        found: dict[str, bool | str] = dict.fromkeys(REQUIRED, True)
        found |= {name: value for name, value in vars(self).items() if isinstance(value, bool)}
        found["landlock"] = f"abi {self.landlock}" if self.landlock else False
        return found


def find(plan: Plan, pids: JobPids | None) -> Layers:
    """Try each layer in a throw-away process; the caller has already followed the plan."""
    abi = landlock.abi()
    return Layers(
        user_namespace=plan.user,
        namespaces=plan.rest,
        empty_root=plan.rest,
        pid_namespace=pids is not None and permitted(pids.rehearse),
        uid_drop=os.geteuid() == 0 and permitted(drop_uid),
        landlock=abi if abi and permitted(lambda: lock_files(abi)) else 0,
    )


def drop_uid() -> None:
    """Become nobody. Raises OSError."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def lock_files(abi: int) -> None:
    """Landlock as it is in a job. Raises OSError."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(abi)
