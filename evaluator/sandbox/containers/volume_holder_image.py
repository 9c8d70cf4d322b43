"""The volume holder's image: two static programs of a few hundred bytes, built without a registry or compiler.

`/keep` sleeps for ever. `/probe` prints the result of uname(2) and its own /proc/self/status, and exits; from this
output the health check reads how a container is really confined. The archive is reproducible, so the image's id is
known.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass

from evaluator.sandbox.containers import tar

_BASE = 0x400000
_HEADERS = 64 + 56
_MACHINES = {"amd64": 62, "arm64": 183}  # ELF e_machine

_KEEP = {
    # again: mov eax, 34 (pause); syscall; jmp again
    "amd64": bytes.fromhex("b822000000 0f05 ebf7"),
    # again: mov x0..x3, 0; mov x8, 73 (ppoll); svc 0; b again
    "arm64": struct.pack("<7I", 0xD2800000, 0xD2800001, 0xD2800002, 0xD2800003, 0xD2800928, 0xD4000001, 0x17FFFFFA),
}
_PROBE = {
    "amd64": bytes.fromhex(
        "4881ec00200000"  # sub rsp, 8192
        "4889e7 b83f000000 0f05"  # uname(rsp)
        "bf01000000 4889e6 ba86010000 b801000000 0f05"  # write(1, rsp, 390)
        "488d3d31000000 31f6 b802000000 0f05"  # open(path, O_RDONLY)
        "89c7 4889e6 ba00200000 31c0 0f05"  # read(fd, rsp, 8192)
        "bf01000000 4889e6 89c2 b801000000 0f05"  # write(1, rsp, number of bytes read)
        "31ff b83c000000 0f05"  # exit(0)
    )
    + b"/proc/self/status\0",
    # sub sp, sp, 8192; uname(sp); write(1, sp, 390); openat(-100, path, 0); read; write; exit(0)
    "arm64": struct.pack(
        "<27I",
        0xD1400BFF,  # sub sp, sp, #2, lsl 12
        0x910003E0,  # mov x0, sp
        0xD2801408,  # mov x8, 160
        0xD4000001,
        0xD2800020,  # mov x0, 1
        0x910003E1,  # mov x1, sp
        0xD28030C2,  # mov x2, 390
        0xD2800808,  # mov x8, 64
        0xD4000001,
        0x92800C60,  # mov x0, -100
        0x10000221,  # adr x1, path (17 words on)
        0xD2800002,  # mov x2, 0
        0xD2800708,  # mov x8, 56
        0xD4000001,
        0x910003E1,  # mov x1, sp
        0xD2840002,  # mov x2, 8192
        0xD28007E8,  # mov x8, 63
        0xD4000001,
        0xAA0003E2,  # mov x2, x0
        0xD2800020,  # mov x0, 1
        0x910003E1,  # mov x1, sp
        0xD2800808,  # mov x8, 64
        0xD4000001,
        0xD2800000,  # mov x0, 0
        0xD2800BA8,  # mov x8, 93
        0xD4000001,
        0xD503201F,  # nop
    )
    + b"/proc/self/status\0",
}
UNAME_FIELD = 65
UNAME_BYTES = 6 * UNAME_FIELD


@dataclass(frozen=True)
class VolumeHolderImage:
    id: str
    archive: bytes


def volume_holder_image(architecture: str) -> VolumeHolderImage:
    """Return the image for an architecture, amd64 or arm64. Others raise KeyError."""
    layer = b"".join(
        [
            *_program("keep", architecture, _KEEP[architecture]),
            *_program("probe", architecture, _PROBE[architecture]),
            tar.END,
        ]
    )
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Entrypoint": ["/keep"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": "1970-01-01T00:00:00Z"}],
    }
    content = json.dumps(config, sort_keys=True).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": None, "Layers": ["layer.tar"]}]).encode()
    files = (("layer.tar", layer), ("config.json", content), ("manifest.json", manifest))
    archive = b"".join(piece for name, data in files for piece in tar.file(name, [data], len(data)))
    return VolumeHolderImage(f"sha256:{hashlib.sha256(content).hexdigest()}", archive + tar.END)


def _program(name: str, architecture: str, code: bytes) -> list[bytes]:
    size = _HEADERS + len(code)
    start = struct.pack("<4sBBB9x", b"\x7fELF", 2, 1, 1)
    start += struct.pack(
        "<HHIQQQIHHHHHH", 2, _MACHINES[architecture], 1, _BASE + _HEADERS, 64, 0, 0, 64, 56, 1, 64, 0, 0
    )
    start += struct.pack("<IIQQQQQQ", 1, 5, 0, _BASE, _BASE, size, size, 0x10000)
    return list(tar.file(name, [start, code], size, mode=0o555))
