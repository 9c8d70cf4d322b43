"""Layers of confinement of a job: the required ones, and the best-effort ones that the machine permits."""

from __future__ import annotations

import os
from dataclasses import dataclass

from evaluator.sandbox.confinement import landlock, syscalls
from evaluator.sandbox.confinement.namespaces import NOBODY, JobPids, Plan, permitted

REQUIRED = ("no_new_privs", "rlimits", "seccomp", "descriptors")


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The best-effort layers. Those that hold at the start must hold for every job."""

    user_namespace: bool
    namespaces: bool  # network, ipc, uts, cgroup, mount
    empty_root: bool
    pid_namespace: bool  # one per job
    uid_drop: bool
    landlock: int  # ABI, 0 = none

    def report(self) -> dict[str, bool | str]:
        """Return all layers by name, as recorded with a run."""
        layers: dict[str, bool | str] = dict.fromkeys(REQUIRED, True)
        layers |= {name: value for name, value in vars(self).items() if isinstance(value, bool)}
        layers["landlock"] = f"abi {self.landlock}" if self.landlock else False
        return layers


def find(plan: Plan, pids: JobPids | None) -> Layers:
    """Try each layer in a throw-away process. The caller has already carried out the plan."""
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
    """Apply Landlock as in a job. Raises OSError."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(abi)
