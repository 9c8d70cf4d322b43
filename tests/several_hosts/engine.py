"""A Docker engine of one host's own, and small images of systems that submit predictions made beforehand."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.several_hosts.processes import ProcessorTime, eventually

if TYPE_CHECKING:
    from tests.several_hosts.site import Host

START_PATIENCE = 120.0
ENTRYPOINT = 'ENTRYPOINT ["/busybox", "cp", "/predictions.jsonl", "/output/predictions.jsonl"]'


def missing() -> str:
    if all(shutil.which(name) for name in ("dockerd", "docker", "busybox")):
        return ""
    return "needs an engine and busybox: apt-get install docker.io busybox-static"


class Engine:
    """The engine, as one of the host's processes, so that it dies with the host."""

    def __init__(self, host: Host, times: ProcessorTime) -> None:
        self.folder = host.folder / "engine"
        self.folder.mkdir()
        self.address = f"unix://{self.folder}/docker.sock"
        words = ["dockerd", "--host", self.address, "--data-root", str(self.folder / "data"), "--storage-driver=vfs"]
        words += ["--exec-root", str(self.folder / "run"), "--pidfile", str(self.folder / "docker.pid")]
        # Systems have no network, and the host has no bridge of the engine's.
        words += ["--iptables=false", "--ip6tables=false", "--bridge=none"]
        # A killed host leaves the file with the number of a process that may be another one by now.
        command = ["sh", "-c", f'rm -f {self.folder}/docker.pid {self.folder}/run/containerd/*.pid; exec "$@"', "sh"]
        host.add("engine", [*command, *words], times=times)

    def wait(self) -> None:
        eventually(lambda: self.docker("version").returncode == 0, "the engine", seconds=START_PATIENCE)

    def docker(self, *arguments: str, content: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, "DOCKER_HOST": self.address}
        return subprocess.run(["docker", *arguments], input=content, env=env, capture_output=True, check=False)

    def image(self, predictions: bytes, archive: Path) -> Path:
        """Save an image that writes these predictions as an archive; the engine keeps no copy."""
        root = io.BytesIO()
        busybox = Path(shutil.which("busybox") or "").read_bytes()
        with tarfile.open(fileobj=root, mode="w") as tar:
            for name, content, mode in (("busybox", busybox, 0o755), ("predictions.jsonl", predictions, 0o644)):
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), mode
                tar.addfile(member, io.BytesIO(content))
        made = self.docker("import", "--change", ENTRYPOINT, "-", content=root.getvalue())
        assert made.returncode == 0, made.stderr
        name = made.stdout.decode().strip()
        saved = self.docker("save", "--output", str(archive), name)
        assert saved.returncode == 0, saved.stderr
        self.docker("image", "rm", name)
        return archive

    def unmount(self) -> None:
        """Remove the mounts that a killed engine leaves."""
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for path in sorted((path for path in mounts if path.startswith(f"{self.folder}/")), reverse=True):
            subprocess.run(["umount", "--lazy", path], capture_output=True, check=False)
