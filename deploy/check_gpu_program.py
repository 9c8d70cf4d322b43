"""The program that `check_gpu.py` runs in containers: it writes which GPUs and networks it sees, and can use a GPU.

It needs only Python's standard library. The NVIDIA runtime mounts libcuda.so.1, the driver's library, into a container
with GPUs.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any


class CudaError(Exception):
    """A function of the CUDA driver failed."""


class Cuda:
    """The CUDA driver API. Raises OSError if there is no libcuda.so.1."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise CudaError(f"{name} returned {status}")

    def uuids(self) -> list[str]:
        """Return the UUIDs of the visible GPUs, as nvidia-smi writes them."""
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        uuids = []
        for index in range(count.value):
            device, content = ctypes.c_int(), (ctypes.c_ubyte * 16)()
            self.call("cuDeviceGet", ctypes.byref(device), index)
            self.call("cuDeviceGetUuid", ctypes.byref(content), device)
            uuids.append(f"GPU-{uuid.UUID(bytes=bytes(content))}")
        return uuids

    def use(self, n_bytes: int, seconds: float) -> None:
        """Allocate memory on the first GPU and write to it repeatedly for this many seconds."""
        device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(n_bytes))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(100):
                self.call("cuMemsetD32_v2", memory, ctypes.c_uint(1), ctypes.c_size_t(n_bytes // 4))
            self.call("cuCtxSynchronize")


def main() -> None:
    options = json.loads(Path("/input/task.json").read_text())["options"]
    devices = sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*"))
    found: dict[str, Any] = {
        "devices": devices,
        "uuids": [],
        "error": "",
        "uid": os.getuid(),
        "networks": sorted(path.name for path in Path("/sys/class/net").glob("*")),
    }
    if devices:
        try:
            cuda = Cuda()
            found["uuids"] = cuda.uuids()
            if options.get("do") == "use":
                cuda.use(int(options["bytes"]), float(options["seconds"]))
        except (OSError, AttributeError, CudaError) as problem:
            found["error"] = f"{type(problem).__name__}: {problem}"
    Path("/output/predictions.jsonl").write_text(json.dumps(found))
    if options.get("do") == "wait":
        time.sleep(float(options["seconds"]))


if __name__ == "__main__":
    main()
