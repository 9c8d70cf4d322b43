"""Health check: runs a probe container to find which layers of confinement are active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import create_settings
from evaluator.sandbox.containers.engine import Engine
from evaluator.sandbox.containers.log_tail import tail
from evaluator.sandbox.containers.volume_holder_image import UNAME_BYTES, UNAME_FIELD

PATIENCE = 30.0  # seconds in which the probe container must end
_SHARE_KERNEL = {"runc", "crun", "io.containerd.runc.v2"}  # these run on the host's kernel, all others on their own


def examine(
    engine: Engine, image: str, *, runtime: str, info: Mapping[str, Any], architecture: str, labels: Mapping[str, str]
) -> dict[str, bool | str]:
    """Run a probe container, confined like a system's, and return its layers of confinement.

    image: the volume holder's image, which includes the probe. info: the result of `Engine.info`. labels: those of the
    container.

    Raises SandboxError if a required layer is missing, if the probe fails, or if it ran under another runtime. Under
    runc the probe must see the host's kernel, under runsc another one. This detects an engine that silently uses the
    other runtime.
    """
    container = engine.create(create_settings.probe(image, runtime=runtime, architecture=architecture, labels=labels))
    try:
        engine.start(container)
        if not engine.wait(container, PATIENCE):
            raise SandboxError(f"the probe did not end in {PATIENCE:g} seconds under the runtime {runtime}")
        inspected = engine.inspect(container)
        output = b"".join(engine.logs(container))
    finally:
        engine.remove(container)
    if inspected["State"]["ExitCode"] != 0:
        raise SandboxError(f"the probe failed under the runtime {runtime}: {tail([output], 300)[0]!r}")
    return {
        **read_layers(
            output,
            asked=runtime,
            runtime=str(inspected["HostConfig"].get("Runtime", "")),
            kernel=str(info.get("KernelVersion", "")),
        ),
        "user_namespace": any("name=userns" in str(option) for option in info.get("SecurityOptions") or ()),
        "cgroup": str(info.get("CgroupVersion", "1")),
        "engine": str(info.get("ServerVersion", "")),
    }


def read_layers(output: bytes, *, asked: str, runtime: str, kernel: str) -> dict[str, bool | str]:
    """Return the layers of confinement by name, as the output of the probe container shows them.

    asked: the runtime that was requested; runtime: the one that was used according to the engine. kernel: the release
    of the host's kernel. Raises SandboxError as `examine` does.
    """
    if len(output) < UNAME_BYTES:
        raise SandboxError(f"the probe failed under the runtime {asked}: {tail([output], 300)[0]!r}")
    release, status = read_probe(output)
    own_kernel = release != kernel
    layers: dict[str, bool | str] = {
        "runtime": runtime,
        "kernel": release,
        "own_kernel": own_kernel,
        "nobody": status.get("Uid", "").split() == ["65534"] * 4,
        "no_capabilities": all(not status.get(name, "0").strip("0") for name in ("CapEff", "CapPrm", "CapBnd")),
        # gVisor's kernel is filtered from outside, and does not report these two to programs.
        "no_new_privs": status.get("NoNewPrivs") == "1",
        "seccomp": status.get("Seccomp") == "2",
    }
    shares_kernel = asked in _SHARE_KERNEL
    required = ["nobody", "no_capabilities"] + (["no_new_privs", "seccomp"] if shares_kernel else [])
    missing = [name for name in required if not layers[name]]
    if runtime != asked or own_kernel is shares_kernel:
        whose = "its own" if own_kernel else "the host's"
        raise SandboxError(
            f"a container asked to run under {asked} ran under {runtime} on {whose} kernel, {release}: "
            "no system is run here until the engine has that runtime"
        )
    if missing:
        raise SandboxError(f"a container under {asked} lacks: {', '.join(missing)}; no system is run here")
    return layers


def read_probe(said: bytes) -> tuple[str, dict[str, str]]:
    """Parse the probe's output; return (the kernel's release, the fields of /proc/self/status by name)."""
    release = said[2 * UNAME_FIELD : 3 * UNAME_FIELD].split(b"\0", 1)[0].decode("ascii", "replace")
    lines = said[UNAME_BYTES:].decode("ascii", "replace").splitlines()
    return release, {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
