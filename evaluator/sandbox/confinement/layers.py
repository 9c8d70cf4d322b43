"""Layers of confinement of a job: the required ones, and the best-effort ones that the machine permits."""

from __future__ import annotations

import os
from dataclasses import dataclass

from evaluator.sandbox.confinement import landlock, syscalls
from evaluator.sandbox.confinement.namespaces import NOBODY, JobPids, Plan, permitted

REQUIRED = ("no_new_privs", "rlimits", "seccomp", "descriptors")


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The best-effort layers: True (or an ABI version) for those that worked when the server started.

    These are applied to every job. A job to which one of them cannot be applied does not run.
    """

    user_namespace: bool
    namespaces: bool  # network, ipc, uts, cgroup, mount
    empty_root: bool
    pid_namespace: bool  # a namespace for each job
    uid_drop: bool
    landlock: int  # version of the ABI; 0: no Landlock

    def report(self) -> dict[str, bool | str]:
        """Return layer name -> state of all layers, including the required ones, in the form that is stored with a run.

        A state is True, False or, for Landlock, a text such as `abi 4`.
        """
        layers: dict[str, bool | str] = dict.fromkeys(REQUIRED, True)
        layers |= {name: value for name, value in vars(self).items() if isinstance(value, bool)}
        layers["landlock"] = f"abi {self.landlock}" if self.landlock else False
        return layers


def find(plan: Plan, pids: JobPids | None) -> Layers:
    """Return the best-effort layers that work on this machine.

    The namespaces are those of `plan`; each other layer is tried in a throw-away process. plan: the namespaces that the
    caller has already unshared. pids: the pid namespaces of jobs; None if jobs get none.
    """
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
    """Change the user and group of this process to nobody, without supplementary groups. Raises OSError."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def lock_files(abi: int) -> None:
    """Apply Landlock to this process with the rules for jobs. abi: the ABI version to apply. Raises OSError."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(abi)
