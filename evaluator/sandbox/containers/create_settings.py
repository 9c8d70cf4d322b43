"""What containers are created with, as the engine's API has it: data alone, so a test reads it without an engine.

Whatever an image says of USER, HEALTHCHECK, STOPSIGNAL, labels and ports is overridden here. Its ENTRYPOINT, CMD, ENV
and WORKDIR stay: they act inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.sandbox.containers import seccomp_profile
from evaluator.sandbox.containers.container_spec import Job

NOBODY = "65534:65534"
_SHARED_MEMORY_BYTES = 64 << 20
_TMP_INODES = 100_000
# The keeper needs next to nothing. The room is for its runtime's start, whose threads count too: with one allowed, runc
# died of it now and then ("cannot start a stopped process").
_KEEPER_MEMORY_BYTES = 64 << 20
_KEEPER_PROCESSES = 64


def output_volume(output_bytes: int, output_files: int) -> dict[str, str]:
    """A tmpfs that the engine mounts: bounded in bytes and inodes, whatever the container does.

    Mode 0777, since nobody's uid may be another number outside (user namespaces); no other container mounts it, and
    on the host it lies below a folder that is root's alone.
    """
    size = -(-output_bytes // 4096) * 4096
    limits = f"size={size},nr_inodes={output_files + 1},mode=0777"
    return {"type": "tmpfs", "device": "tmpfs", "o": f"{limits},nosuid,nodev,noexec"}


def work(
    job: Job,
    *,
    folders: Mapping[str, str],
    output: str,
    runtime: str,
    architecture: str,
    labels: Mapping[str, str],
    image_labels: Iterable[str],
) -> dict[str, Any]:
    """The container of a submitted system, or of a scorer. folders: mount point -> volume; output: a volume's name."""
    limits = job.limits
    host = _confined(runtime, architecture) | {
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,
        "NanoCpus": round(limits.cpus * 1e9),
        "PidsLimit": limits.processes,
        "Tmpfs": {"/tmp": f"rw,nosuid,nodev,exec,size={limits.tmp_bytes},nr_inodes={_TMP_INODES},mode=1777"},  # noqa: S108
        "Ulimits": [
            _ulimit("core", 0),
            _ulimit("nofile", limits.open_files),
            _ulimit("fsize", max(limits.tmp_bytes, limits.output_bytes)),
        ],
        # Two files of a megabyte: what it prints is bounded on the host's disk, and its end is kept.
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2", "compress": "false"}},
        "Mounts": [*(_mount(at, name, read_only=True) for at, name in folders.items()), _mount("/output", output)],
    }
    return {
        "Image": job.image,
        "User": NOBODY,
        "Hostname": job.kind,
        "Env": [f"{name}={value}" for name, value in job.environment.items()],
        # Other programs on the host act on labels of containers, and an image's are passed on: they are blanked.
        "Labels": {**dict.fromkeys(image_labels, ""), **labels},
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGKILL",
        "NetworkDisabled": True,
        "HostConfig": host,
    }


def keeper(
    image: str, *, folders: Mapping[str, str], output: str, architecture: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Holds the volumes: a tmpfs is gone when no running container has it."""
    host = _confined("", architecture) | {
        "Memory": _KEEPER_MEMORY_BYTES,
        "MemorySwap": _KEEPER_MEMORY_BYTES,
        "PidsLimit": _KEEPER_PROCESSES,
        "LogConfig": {"Type": "none", "Config": {}},
        "Mounts": [*(_mount(at, name) for at, name in folders.items()), _mount("/output", output, read_only=True)],
    }
    return {"Image": image, "User": NOBODY, "Labels": dict(labels), "NetworkDisabled": True, "HostConfig": host}


def probe(image: str, *, runtime: str, architecture: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Confined as a system is; prints what it sees."""
    host = _confined(runtime, architecture) | {
        "Memory": 64 << 20,
        "MemorySwap": 64 << 20,
        "PidsLimit": 64,
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2", "compress": "false"}},
    }
    return {
        "Image": image,
        "Entrypoint": ["/probe"],
        "User": NOBODY,
        "Labels": dict(labels),
        "NetworkDisabled": True,
        "HostConfig": host,
    }


def _confined(runtime: str, architecture: str) -> dict[str, Any]:
    """What every container of ours has. runtime: empty for the engine's default."""
    return {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true", f"seccomp={seccomp_profile.profile(architecture)}"],
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "PidMode": "",
        "UTSMode": "",
        "ShmSize": _SHARED_MEMORY_BYTES,
        "OomScoreAdj": 500,
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
        "Runtime": runtime,
    }


def _mount(target: str, volume: str, *, read_only: bool = False) -> dict[str, Any]:
    # NoCopy: else the engine would copy what the image has there into the volume, as root.
    options = {"NoCopy": True}
    return {"Type": "volume", "Source": volume, "Target": target, "ReadOnly": read_only, "VolumeOptions": options}


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}
