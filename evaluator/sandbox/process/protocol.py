"""Messages on the socket and the report's pipe, shared by client and server.

Socket (SEQPACKET, one connection per run): a Request; for a run, an Order with descriptors (the report's pipe first,
then the files). The server sends Replies: ready, then end; or failed, which is the sandbox's own fault.
Pipe: a header, the report as JSON, the attachment; nothing after it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from evaluator.sandbox.contract import Limits, Verdict

PACKET_BYTES = 128 << 10
MOST_FILES = 16
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
    event: Literal["ready", "end", "failed"]
    verdict: Verdict | None = None
    error_id: str = ""
    what: str = ""
    layers: dict[str, bool | str] = {}
    code: str = ""  # digest of the server's sources, in a ready reply


def pack(message: msgspec.Struct) -> bytes:
    """Return the message as JSON. Raises ValueError if it does not fit in a packet."""
    packet = msgspec.json.encode(message)
    if len(packet) > PACKET_BYTES:
        raise ValueError(f"a packet of {len(packet)} bytes, expected at most {PACKET_BYTES}")
    return packet


def unpack(packet: bytes, kind: type[Kind]) -> Kind:
    return msgspec.json.decode(packet, type=kind)


def frame_header(report: bytes, attachment: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, len(report), len(attachment))


def encode_report(report: Mapping[str, Any]) -> bytes:
    """Return the report as JSON. Raises ValueError or TypeError for values without a JSON form, such as NaN."""
    return json.dumps(report, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def read_frame(received: bytes | bytearray) -> tuple[dict[str, Any], bytes]:
    """Return (report, attachment) from all bytes of the pipe.

    Raises ValueError, which does not quote the content, if it is truncated, too long or not a JSON object.
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
