"""Each hostile upload is answered with what is wrong, where, and what was expected, and changes nothing."""

from __future__ import annotations

import gzip
import http.client
import io
import pickle
import socket
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.actions import tokens
from leaderboard.models import Prediction, State, System
from leaderboard.submissions.actions import validation
from tests.support.api_calls import SUBMIT, client_of, footprint, send
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.web_server import served

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def ada(world) -> Client:
    return client_of(world.researcher)


@dataclass(frozen=True)
class Case:
    """A file and the `line` with its problem (None: the whole file); the content is made when the test runs."""

    name: str
    make: Callable[[], bytes]
    line: int | None = 2
    file: str = "predictions.jsonl"


def with_line(line: bytes) -> bytes:
    """A good file whose second line is this one."""
    first, _, *rest = prediction_lines().splitlines(keepends=True)
    return b"".join([first, line + b"\n", *rest])


def with_key(key: bytes) -> bytes:
    return with_line(b'{"id": "a2", "predicted_label": "REFUTES", ' + key + b"}")


def a_million_keys() -> bytes:
    return with_key(", ".join(f'"k{n}": 0' for n in range(1_000_000)).encode())


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, prediction_lines())
    return buffer.getvalue()


class Trap:
    """Raises when it is unpickled, which nothing may do."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('unpickled')",))


GZ = "predictions.jsonl.gz"
CASES = [
    Case("empty", lambda: b"", None),
    Case("utf16le", lambda: prediction_lines().decode().encode("utf-16-le"), 1),
    Case("bad_utf8", lambda: with_line(b'{"id": "a2", "predicted_label": "REF\xffTES"}')),
    Case("nul_escaped", lambda: with_key(b'"note": "\\u0000"')),
    Case("infinity", lambda: with_key(b'"note": -Infinity')),
    Case("depth_100000", lambda: with_key(b'"note": ' + b"[" * 100_000 + b"]" * 100_000)),
    Case("a_million_unknown_keys", a_million_keys),
    Case("homoglyph_id", lambda: with_line('{"id": "\u04302", "predicted_label": "REFUTES"}'.encode())),
    Case("a_training_id", lambda: with_line(b'{"id": "train-17", "predicted_label": "REFUTES"}')),
    Case("label_of_8_mb", lambda: with_line(b'{"id": "a2", "predicted_label": "' + b"R" * 8_000_000 + b'"}')),
    Case("zip_slip", lambda: zipped("../../predictions.jsonl", "/etc/x"), None, "predictions.zip"),
    Case("gzip_bomb", lambda: gzip.compress(b" " * 1_000_000, 9) * 150, 1, GZ),
    Case("gzip_cut_off", lambda: gzip.compress(prediction_lines())[:-9], None, GZ),
    Case("pickle", lambda: pickle.dumps(Trap()), None, "predictions.pkl"),
]
"""One of each kind through the whole path; tests/evaluator/jsonl/test_readers.py and the tasks' rules have all."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_upload(ada, case: Case):
    before = footprint()
    answer = ada.post(SUBMIT, {"system": "Bernoulli", "file": SimpleUploadedFile(case.file, case.make())})
    assert answer.status_code == 422, answer.content
    body = answer.json()
    assert body["code"] == "invalid_predictions"
    first = body["problems"][0]
    assert (first["file"], first["line"]) == (case.file, case.line)
    assert first["what"] and (first["expected"] or case.line is None)
    where = f"{case.file}:{case.line}: " if case.line else f"{case.file}: "
    assert first["text"].startswith(where)
    assert len(answer.content) < 100_000
    assert footprint() == before


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (prediction_lines().replace(b"\n", b"\r\n"), "crlf.jsonl"),
        (b"".join(map(gzip.compress, prediction_lines().splitlines(keepends=True))), "members.gz"),
    ],
)
def test_what_looks_wrong_and_is_valid_is_accepted(ada, content: bytes, name: str):
    answer = send(ada, content, name=name)
    assert (answer.status_code, answer.json()["state"]) == (201, "queued"), answer.content


def test_ignored_keys_give_a_warning(ada):
    content = with_key(b'"__proto__": {"predicted_label": "SUPPORTS"}')
    assert any("__proto__" in warning for warning in send(ada, content).json()["warnings"])


NAMES = [
    *("x" * 300 + ".jsonl", "../../etc/passwd", "/etc/passwd", "..\\..\\x"),
    *("<script>alert(1)</script>.jsonl", "=1+1.jsonl", "a\x1b[31mb.jsonl", "\u202efdp.jsonl"),
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:24])
def test_a_file_name_cannot_leave_its_folder(world, ada, name):
    answer = send(ada, prediction_lines(), name=name)
    assert answer.status_code == 201
    file_name = answer.json()["file"]
    assert len(file_name["name"]) <= 255 and "/" not in file_name["name"] and "\x1b" not in file_name["name"]
    stored = Path(settings.DATA, "files", "predictions")
    assert all(path.stem.isalnum() for path in stored.rglob("*.jsonl"))
    fetched = ada.get(file_name["url"])
    assert fetched["Content-Disposition"].startswith("attachment;")
    assert b"".join(fetched.streaming_content) == prediction_lines()


@pytest.mark.parametrize("name", ["a\x1b[31mred", "bell\x07", "del\x7f"])
def test_a_system_name_has_no_control_characters(ada, name):
    answer = send(ada, prediction_lines(), system=name)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_name")
    assert System.objects.count() == 1


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "<svg/onload=alert(1)>", '"; DROP TABLE x', "نظام", "系統 🧪"]
)
def test_a_system_name_is_returned_unchanged(ada, name):
    answer = send(ada, prediction_lines(), system=name)
    assert (answer.status_code, answer.json()["system"]) == (201, name)
    assert answer["Content-Type"] == "application/json"


def test_no_text_of_a_refused_file_is_logged(ada, caplog):
    caplog.set_level(0)
    send(ada, b'{"id": "a1", "predicted_label": "\x1b[31mXYZZY"}\n', name="\x1b[31mQUUX.jsonl")
    assert "XYZZY" not in caplog.text and "\x1b" not in caplog.text


def peak_memory(of: int) -> int:
    """Peak memory, in bytes, of any child process so far."""
    children = Path(f"/proc/{of}/task/{of}/children").read_text().split()
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in children]
    return max(int(text.split("VmHWM:")[1].split()[0]) * 1024 for text in texts)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_string_of_200_mb_takes_little_memory(world):
    _, secret = tokens.issue(by=world.researcher)
    block = b"x" * 1_000_000
    head = b'{"id": "'
    with served() as site:
        connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=300)
        connection.putrequest("POST", f"{SUBMIT}?system=S")
        connection.putheader("Authorization", f"Token {secret}")
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Content-Length", str(len(head) + 199 * len(block)))
        connection.endheaders(head)
        for _ in range(199):
            connection.send(block)
        assert connection.getresponse().status == 201  # files of this size are validated later
        assert peak_memory(site.pid) < 256_000_000
    prediction = Prediction.objects.get()
    validation.WORK.run(prediction.pk)
    prediction.refresh_from_db()
    assert prediction.state == State.REJECTED and "the line is too long" in str(prediction.problems)
    assert not prediction.file


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["application/x-ndjson", "multipart/form-data; boundary=b"])
def test_a_client_that_disconnects_leaves_nothing(world, kind):
    _, secret = tokens.issue(by=world.researcher)
    before = footprint()
    head = f"POST {SUBMIT}?system=S HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Token {secret}\r\n"
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename="p.jsonl"\r\n\r\n'
    body = (part.encode() if "multipart" in kind else b"") + prediction_lines() * 10_000
    with served() as site, socket.create_connection(("127.0.0.1", urlsplit(site.address).port)) as connection:
        connection.sendall(f"{head}Content-Type: {kind}\r\nContent-Length: 99000000\r\n\r\n".encode() + body)
        connection.shutdown(socket.SHUT_WR)
        # The server closes the connection after the request, even if the client would send more.
        while connection.recv(65536):
            pass
    assert footprint() == before
