"""A local image registry. Engines accept 127.0.0.1 without TLS."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry:
    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self.blobs: dict[str, bytes] = {}

    def put(self, config: bytes, layers: list[bytes]) -> str:
        """Store an image with packed layers; return its reference."""
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._described(config, _CONFIG),
            "layers": [self._described(layer, _LAYER) for layer in layers],
        }
        return f"{self.address}/team/system@{self._kept(json.dumps(manifest).encode())}"

    def _described(self, content: bytes, kind: str) -> dict[str, object]:
        return {"mediaType": kind, "size": len(content), "digest": self._kept(content)}

    def _kept(self, content: bytes) -> str:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.blobs[digest] = content
        return digest


@contextmanager
def registry() -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            digest = self.path.rsplit("/", 1)[-1]
            content = b"{}" if self.path == "/v2/" else served.blobs.get(digest)
            self.send_response(404 if content is None else 200)
            if content is None:
                content = b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}'
            kind = _MANIFEST if "/manifests/" in self.path and digest in served.blobs else "application/json"
            for name, value in (("Content-Type", kind), ("Docker-Content-Digest", digest)):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Registry(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
