"""nginx with the configuration of deploy/, in front of a site on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0

needs_nginx = pytest.mark.skipif(
    not shutil.which("nginx", path="/usr/sbin:/usr/bin"), reason="needs nginx: apt-get install nginx-light"
)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def configuration(folder: Path, *, upstreams: list[str], port: int) -> Path:
    """Write the configuration of deploy/ with other addresses and folders; return the path of its main file.

    upstreams: HOST:PORT of each web server.
    """
    servers = "\n    ".join(f"server {address};" for address in upstreams)
    site = folder / "nginx-site.conf"
    text = (ROOT / "deploy" / site.name).read_text()
    for shipped, here in (("server web:8000;", servers), ("listen 8080;", f"listen {port};")):
        assert shipped in text
        text = text.replace(shipped, here)
    site.write_text(text.replace("/tmp/", f"{folder}/"))
    main = (ROOT / "deploy" / "nginx.conf").read_text()
    # A root process would use another user for its workers, which cannot enter the test's folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    main = main.replace("/tmp/", f"{folder}/").replace("/etc/holdout/nginx-site.conf", str(site))
    (folder / "nginx.conf").write_text(user + main.replace("/dev/stdout", str(folder / "access.log")))
    return folder / "nginx.conf"


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


@contextmanager
def in_front_of(upstream: int, folder: Path) -> Iterator[int]:
    """Run nginx in front of the site on the port `upstream`; yield nginx's port."""
    port = _free_port()
    main = configuration(folder, upstreams=[f"127.0.0.1:{upstream}"], port=port)
    command = [shutil.which("nginx", path="/usr/sbin:/usr/bin") or "nginx", "-p", str(folder), "-c", str(main)]
    with (folder / "error.log").open("wb") as log:
        process = subprocess.Popen([*command, "-g", "daemon off;"], stdin=subprocess.DEVNULL, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((folder / "error.log").read_text()) from None
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)
