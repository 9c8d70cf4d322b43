"""An S3 server in memory behind a proxy that hangs, refuses or cuts off responses when a test says so."""

from __future__ import annotations

import enum
import functools
import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import botocore.session
import pytest
from django.apps import apps
from django.db.models import FileField
from moto.server import ThreadedMotoServer

from leaderboard.core import s3_storage

# Each session would read and search the descriptions of all services again, a tenth of a second for each client.
botocore.session.create_loader = functools.cache(botocore.session.create_loader)

KEYS = {"AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two", "AWS_DEFAULT_REGION": "us-east-1"}
BUCKETS = ("files", "gold")
SECONDS = 1.0
"""The site's timeout for the store."""


class Fault(enum.Enum):
    NONE = "the request is passed on"
    HANG = "the request is read, and nothing is answered until the test ends"
    LOST = "the request is passed on, and its response is never sent"
    REFUSE = "the connection is closed without a response"
    UNAVAILABLE = "the response is 503"
    CUT = "half of the response's body is sent, then the connection is closed"


@dataclass
class FaultyStore:
    """fault: what happens to requests, unless `spares` returns True for their request line. seen: request lines."""

    endpoint: str
    fault: Fault = Fault.NONE
    spares: Callable[[str], bool] = lambda line: False
    seen: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    behind: str = ""

    def breaks(self, fault: Fault, spares: Callable[[str], bool] = lambda line: False) -> None:
        self.fault, self.spares = fault, spares

    def keys(self) -> list[str]:
        """Return the names of all stored files, read past the proxy."""
        store = boto3.resource("s3", endpoint_url=self.behind)
        return sorted(f"{bucket}/{item.key}" for bucket in BUCKETS for item in store.Bucket(bucket).objects.all())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    store: FaultyStore


class _Proxy(BaseHTTPRequestHandler):
    """One request a connection, so that a fault also holds for clients that are connected already."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def forward(self) -> None:
        store = self.server.store
        self.close_connection = True
        body = self._body()
        store.seen.append(self.requestline)
        fault = Fault.NONE if store.spares(self.requestline) else store.fault
        if fault is Fault.UNAVAILABLE:
            self.send_response(503)
            self._end(b"")
        if fault is Fault.HANG:
            store.released.wait()
        if fault in (Fault.UNAVAILABLE, Fault.HANG, Fault.REFUSE):
            return
        server = http.client.HTTPConnection(store.behind.removeprefix("http://"))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        server.request(self.command, self.path, body or None, {**headers, "Content-Length": str(len(body))})
        response = server.getresponse()
        content = response.read()
        if fault is Fault.LOST:
            store.released.wait()
            return
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in (*HOP_BY_HOP, "content-length", "date", "server"):
                self.send_header(name, value)
        length = response.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self._end(content[: len(content) // 2] if fault is Fault.CUT else content, length or "0")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _end(self, content: bytes, length: str = "0") -> None:
        self.send_header("Content-Length", length)
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


HOP_BY_HOP = ("connection", "expect", "transfer-encoding")


@contextmanager
def s3_server() -> Iterator[str]:
    """Start an S3 server in memory; yield its endpoint."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


@contextmanager
def faulty_store(behind: str) -> Iterator[FaultyStore]:
    """Start the proxy before the S3 server `behind`, with empty buckets."""
    with _Server(("127.0.0.1", 0), _Proxy) as server:
        server.store = FaultyStore(f"http://127.0.0.1:{server.server_address[1]}", behind=behind)
        store = boto3.resource("s3", endpoint_url=behind)
        for bucket in BUCKETS:
            store.create_bucket(Bucket=bucket)
            store.Bucket(bucket).objects.all().delete()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.store
        finally:
            server.store.released.set()
            server.shutdown()
            thread.join()


def use_store(store: FaultyStore, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Let the site have its files in the store, with short timeouts. The result of a check is valid until forgotten."""
    in_s3 = {
        alias: {
            "BACKEND": "leaderboard.core.s3_storage.PrivateS3Storage",
            "OPTIONS": {
                "bucket_name": "gold" if alias == "gold" else "files",
                "location": alias,
                "endpoint_url": store.endpoint,
                "file_overwrite": False,
                "seconds": SECONDS,
            },
        }
        for alias in settings.STORAGES
        if alias != "staticfiles"
    }
    settings.STORAGES = {**settings.STORAGES, **in_s3}
    settings.FILE_CACHE_BYTES = 0
    for model in apps.get_models():
        for model_field in model._meta.concrete_fields:
            if isinstance(model_field, FileField):
                # The functions of leaderboard.models that the fields called when they were defined.
                monkeypatch.setattr(model_field, "storage", vars(model_field)["_storage_callable"]())
    monkeypatch.setattr(s3_storage, "CHECK_SECONDS", SECONDS)
    monkeypatch.setattr(s3_storage, "CHECK_VALID_SECONDS", 1e9)
    forget_checks(monkeypatch)


def forget_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next request check the store again, as some seconds later."""
    monkeypatch.setattr(s3_storage.PrivateS3Storage, "_checks", {})
