"""Messages on the socket and the report's pipe, shared by client and server.

Socket (SEQPACKET, one connection per run): the client sends a Request, and for a run then an Order with descriptors
(the report's pipe first, then the files). The server sends Replies: `ready` when the job starts, then `end`; instead of
either, `failed` if the sandbox and not the job is at fault, or `late` if the job got too little processor time.

Pipe: the job writes a header, the report as JSON and the attachment; nothing may follow.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from evaluator.sandbox.contract import Limits, Verdict

PACKET_BYTES = 128 << 10
MOST_FILES = 252
Kind = TypeVar("Kind")
_MAGIC = b"HOLD"
_HEADER = struct.Struct("<4sIQ")
HEADER_BYTES = _HEADER.size


class Request(msgspec.Struct, forbid_unknown_fields=True):
    ask: Literal["run", "layers"]
    limits: Limits | None = None


class Order(msgspec.Struct, forbid_unknown_fields=True):
    job: str
    arguments: dict[str, Any]
    files: list[str]


class Reply(msgspec.Struct, omit_defaults=True):
    event: Literal["ready", "end", "failed", "late"]
    verdict: Verdict | None = None
    error_id: str = ""
    what: str = ""
    layers: dict[str, bool | str] = {}
    cpu_seconds: float = 0.0  # that the job has used, in an end reply
    code: str = ""  # digest of the server's sources, in a ready reply


def pack(message: msgspec.Struct) -> bytes:
    """Return the message as JSON. Raises ValueError if it has more than PACKET_BYTES bytes."""
    packet = msgspec.json.encode(message)
    if len(packet) > PACKET_BYTES:
        raise ValueError(f"the message has {len(packet)} bytes, expected at most {PACKET_BYTES}")
    return packet


def unpack(packet: bytes, kind: type[Kind]) -> Kind:
    return msgspec.json.decode(packet, type=kind)


def frame_header(report: bytes, attachment: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, len(report), len(attachment))


def encode_report(report: Mapping[str, Any]) -> bytes:
    """Return the report as JSON. Raises ValueError or TypeError for values without a JSON form, such as NaN."""
    return json.dumps(report, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def read_frame(received: bytes | bytearray) -> tuple[dict[str, Any], bytes]:
    """Parse all bytes that came through the pipe; return (report, attachment).

    Raises ValueError if they are fewer or more than the header declares, or if the report is not a JSON object. The
    text of the error does not quote the report.
    """
    if len(received) < HEADER_BYTES:
        raise ValueError("the report is truncated")
    magic, report_size, attachment_size = _HEADER.unpack_from(received)
    if magic != _MAGIC:
        raise ValueError("the report has no valid header")
    expected = HEADER_BYTES + report_size + attachment_size
    if len(received) != expected:
        raise ValueError(f"the report has {len(received)} bytes, but its header declares {expected}")
    split = HEADER_BYTES + report_size
    try:
        report = msgspec.json.decode(memoryview(received)[HEADER_BYTES:split], type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("the report is not a JSON object") from None
    return report, bytes(memoryview(received)[split:])
