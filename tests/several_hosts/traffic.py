"""Clients of the site: some submit, others read pages; every wait is recorded with the stage in which it began."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.several_hosts.services import HTTP

CLIENTS, READERS = 8, 2
API = f"{HTTP}/api/v1"
PHASE = f"{API}/benchmarks/tiny/phases/test"
PAGES = ("/", "/benchmarks/tiny/", "/benchmarks/tiny/test/", "/api/v1/benchmarks/tiny/phases/test/leaderboard/")
PAGE_SECONDS = 5.0
"""No page may wait longer for a fault of another host."""
READ_EVERY = 0.25
RETRY_SECONDS = 1.0
TUS = {"Tus-Resumable": "1.0.0"}
TIMEOUT = 180.0
NO_ANSWER = 0
"""Status of a request that got no response."""


@dataclass(frozen=True)
class Wait:
    """One request. stage: the stage in which it began; at: seconds since the start."""

    kind: str
    stage: str
    at: float
    seconds: float
    status: int
    url: str = ""


@dataclass(frozen=True)
class Accepted:
    """A submission that the site has accepted. variant: which answers it has."""

    pk: str
    variant: int
    is_image: bool
    stage: str
    at: float


class Traffic:
    """What all clients share: how many submissions they may make now, and what they were answered."""

    def __init__(self, variants: list[bytes], images: list[Path], *, image_every: int) -> None:
        self.variants, self.images, self.image_every = variants, images, image_every
        self.stage = "start"
        self.began = time.monotonic()
        self.waits: list[Wait] = []
        self.accepted: list[Accepted] = []
        self.over = threading.Event()
        self._numbers = itertools.count()
        self._ready = threading.Condition()
        self._tickets = 0

    def now(self) -> float:
        return time.monotonic() - self.began

    def allow(self, tickets: int) -> None:
        """Let the clients make so many more submissions."""
        with self._ready:
            self._tickets += tickets
            self._ready.notify_all()

    def take(self) -> int | None:
        """Wait until a submission may be made, and return its number; None when there are no more."""
        with self._ready:
            self._ready.wait_for(lambda: self._tickets or self.over.is_set())
            if self.over.is_set():
                return None
            self._tickets -= 1
            return next(self._numbers)

    def request(self, session: requests.Session, kind: str, method: str, url: str, **options: Any) -> Any:
        """Make a request and record it; return the response, or None if there is none."""
        stage, at = self.stage, self.now()
        try:
            response = session.request(method, url, timeout=TIMEOUT, **options)
        except requests.RequestException:
            response = None
        status = NO_ANSWER if response is None else response.status_code
        self.waits.append(Wait(kind, stage, at, self.now() - at, status, url))
        return response

    def stop(self) -> None:
        self.over.set()
        with self._ready:
            self._ready.notify_all()

    def statuses(self) -> Counter[tuple[str, int]]:
        return Counter((wait.stage, wait.status) for wait in self.waits)


class Submitter(threading.Thread):
    """One person, who submits one file after the other, and tries again when the site asks for it.

    variants: which answers this person submits in files. No other team may send the same: otherwise each file would be
    compared with those of all other teams as a near-duplicate, which costs more than its scoring.
    """

    def __init__(self, traffic: Traffic, system: str, token: str, variants: Sequence[int]) -> None:
        super().__init__(daemon=True, name=system)
        self.traffic, self.system, self.variants = traffic, system, variants
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Token {token}"
        self.last = ""
        self.upload = ""
        """Address of an image's upload that is not submitted yet."""

    def run(self) -> None:
        while (number := self.traffic.take()) is not None:
            while not self._submit(number) and not self.traffic.over.wait(RETRY_SECONDS):
                pass

    def _submit(self, number: int) -> bool:
        traffic = self.traffic
        at, stage = traffic.now(), traffic.stage
        is_image = bool(traffic.images) and number % traffic.image_every == traffic.image_every // 2
        variant = number % len(traffic.images) if is_image else self.variants[number % len(self.variants)]
        response = self._image(traffic.images[variant]) if is_image else self._file(traffic.variants[variant])
        if response is None or response.status_code != 201:
            return False
        self.last = response.json()["url"]
        traffic.accepted.append(Accepted(response.json()["id"], variant, is_image, stage, at))
        return True

    def _file(self, content: bytes) -> Any:
        file = {"file": ("predictions.jsonl", content)}
        fields = {"system": self.system}
        return self.traffic.request(self.session, "upload", "POST", f"{PHASE}/submissions/", files=file, data=fields)

    def _image(self, archive: Path) -> Any:
        """Upload an archive in chunks; after a failure, the next call goes on with the same upload."""
        content = archive.read_bytes()
        if self.upload:
            known = self.traffic.request(self.session, "image", "GET", self.upload)
        else:
            headers = {**TUS, "Upload-Length": str(len(content))}
            known = self.traffic.request(self.session, "image", "POST", f"{PHASE}/image-uploads/", headers=headers)
        if known is None or known.status_code not in (200, 201):
            if known is not None and known.status_code == 404:
                self.upload = ""  # it was submitted, and the response was lost
            return None
        upload = known.json()
        self.upload = upload["url"]
        for offset in range(upload["received"], len(content), upload["chunk_bytes"]):
            chunk = content[offset : offset + upload["chunk_bytes"]]
            headers = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}
            sent = self.traffic.request(self.session, "image", "PATCH", upload["url"], data=chunk, headers=headers)
            if sent is None or sent.status_code != 204:
                return None
        fields = {"system": self.system}
        submitted = self.traffic.request(self.session, "image", "POST", upload["submission"], json=fields)
        if submitted is not None and submitted.status_code == 201:
            self.upload = ""
        return submitted


class Reader(threading.Thread):
    """A visitor, who reads pages all the time."""

    def __init__(self, traffic: Traffic, submitter: Submitter) -> None:
        super().__init__(daemon=True, name="reader")
        self.traffic, self.submitter = traffic, submitter

    def run(self) -> None:
        session = requests.Session()
        for path in itertools.cycle(PAGES):
            if self.traffic.over.wait(READ_EVERY):
                return
            self.traffic.request(session, "page", "GET", HTTP + path)
            if self.submitter.last and path == PAGES[0]:
                own = {"Authorization": self.submitter.session.headers["Authorization"]}
                self.traffic.request(session, "page", "GET", self.submitter.last, headers=own)


def lines(answers: dict[str, str]) -> bytes:
    return b"".join(
        json.dumps({"id": id_, "predicted_label": label}).encode() + b"\n" for id_, label in answers.items()
    )
