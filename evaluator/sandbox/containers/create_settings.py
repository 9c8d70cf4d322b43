"""Settings with which containers and volumes are created, in the format of the Docker Engine API.

The settings override an image's USER, HEALTHCHECK, STOPSIGNAL, labels and ports. The image's ENTRYPOINT, CMD, ENV and
WORKDIR stay in force, since they only act inside the container.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluator.sandbox.containers import gpu, seccomp_profile
from evaluator.sandbox.containers.container_spec import Job
from evaluator.sandbox.containers.gpu import Gpu

NOBODY = "65534:65534"
_SHARED_MEMORY_BYTES = 64 << 20
_TMP_INODES = 100_000
# The volume holder needs almost nothing. The limits leave room for the runtime's start, whose threads count too: with
# one process allowed, runc failed occasionally ("cannot start a stopped process").
_VOLUME_HOLDER_MEMORY_BYTES = 64 << 20
_VOLUME_HOLDER_PROCESSES = 64


def output_volume(output_bytes: int, output_files: int) -> dict[str, str]:
    """Return the options of a tmpfs volume for output files, with a limited size and number of files.

    output_bytes: the maximum size in bytes. output_files: the maximum number of files and folders (inodes). The
    volume's mode is 0777, since the container's user may have another uid on the host (user namespaces). No other job's
    container mounts the volume, and on the host it is below a folder that only root can access.
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
    gpus: Sequence[Gpu] = (),
    gpu_runtime: str = "nvidia",
) -> dict[str, Any]:
    """Return the settings of a system's or scorer's container.

    folders: mount point -> name of its volume. output: the name of the volume for /output. runtime: the engine's OCI
    runtime. architecture: amd64 or arm64. labels: the labels to set. image_labels: the names of the image's own labels,
    which are blanked. gpus: the GPUs reserved for the container. gpu_runtime: one of `gpu.RUNTIMES`.
    """
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
        # Two files of a megabyte limit its printed output on the host's disk, and retain the end.
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2", "compress": "false"}},
        "Mounts": [
            *(_mount(target, name, labels, read_only=True) for target, name in folders.items()),
            _mount("/output", output, labels),
        ],
    }
    if gpus:
        host["DeviceRequests"] = [gpu.device_request(gpu_runtime, gpus)]
    environment = {**job.environment, **gpu.environment(gpu_runtime, gpus)}
    return {
        "Image": job.image,
        "User": NOBODY,
        "Hostname": job.kind,
        "Env": [f"{name}={value}" for name, value in environment.items()],
        # Containers inherit an image's labels, which other programs on the host may act on: blank them.
        "Labels": {**dict.fromkeys(image_labels, ""), **labels},
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGKILL",
        "NetworkDisabled": True,
        "HostConfig": host,
    }


def volume_holder(
    image: str, *, folders: Mapping[str, str], output: str, architecture: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the settings of the volume holder, which keeps the tmpfs volume in existence while it runs.

    image: the id of its image. folders, output, architecture, labels: as for `work`; here the folders are writable and
    /output is read-only.
    """
    host = _confined("", architecture) | {
        "Memory": _VOLUME_HOLDER_MEMORY_BYTES,
        "MemorySwap": _VOLUME_HOLDER_MEMORY_BYTES,
        "PidsLimit": _VOLUME_HOLDER_PROCESSES,
        "LogConfig": {"Type": "none", "Config": {}},
        "Mounts": [
            *(_mount(target, name, labels) for target, name in folders.items()),
            _mount("/output", output, labels, read_only=True),
        ],
    }
    return {"Image": image, "User": NOBODY, "Labels": dict(labels), "NetworkDisabled": True, "HostConfig": host}


def reservation(image: str, *, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of a container that is never started. The name with which it is created reserves a GPU.

    image: the id of any image that the engine has. labels: the labels to set.
    """
    return {"Image": image, "Entrypoint": ["/none"], "User": NOBODY, "Labels": dict(labels), "NetworkDisabled": True}


def probe(image: str, *, runtime: str, architecture: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the container that the health check runs (the probe), confined like a system's."""
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
    """Return the `HostConfig` that all containers share.

    runtime: the name of the OCI runtime; empty: the engine's default. architecture: amd64 or arm64.
    """
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


def _mount(target: str, volume: str, labels: Mapping[str, str], *, read_only: bool = False) -> dict[str, Any]:
    # Without NoCopy the engine would copy the image's files at this path into the volume, as root. The labels are for
    # the reaper: if the volume was removed before a slow engine creates the container, the engine creates it again.
    options = {"NoCopy": True, "Labels": dict(labels)}
    return {"Type": "volume", "Source": volume, "Target": target, "ReadOnly": read_only, "VolumeOptions": options}


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}
