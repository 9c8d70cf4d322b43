"""The forked process of one job: it receives the job's order, confines itself, runs the job and writes the report.

The order has the job's name, its arguments and the names of its files. Only this process ever has the order and the
files, so nothing of one job can leak into another.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn

from evaluator.sandbox.confinement import apply
from evaluator.sandbox.confinement.apply import FIRST_FILE, REPORT, STATUS
from evaluator.sandbox.confinement.layers import Layers
from evaluator.sandbox.contract import Limits
from evaluator.sandbox.openfile import check_readable, open_file
from evaluator.sandbox.process import protocol, sanitized_errors

Job = Callable[[Mapping[str, BinaryIO], Mapping[str, Any]], tuple[dict[str, Any], bytes]]
Jobs = Mapping[str, Job]

READY = b"ready\n"
EXIT_RAISED, EXIT_MEMORY, EXIT_OUTPUT, EXIT_UNCONFINED, EXIT_UNPREPARED = 81, 82, 83, 84, 85


def run(
    connection: socket.socket, *, jobs: Jobs, limits: Limits, layers: Layers, null: int, status: int, size: int
) -> NoReturn:
    """Run one job and end the process. No exception reaches the server's code, of which this process is a copy.

    A failure before READY is written to the status pipe counts as a failure of the sandbox, a later one as the job's.

    connection: the client's socket, from which the order is read. jobs: the known jobs by name. null: descriptor of
    /dev/null. status: descriptor of the status pipe. size: the server's address space in bytes.
    """
    code = EXIT_UNCONFINED
    try:
        order, descriptors = receive(connection)
        if order.job not in jobs:
            raise ValueError(f"unknown job {order.job!r}, expected one of {sorted(jobs)}")
        for name, descriptor in zip(order.files, descriptors[1:], strict=True):
            check_readable(name, descriptor)
        apply.arrange(null=null, report=descriptors[0], status=status, files=descriptors[1:])
        status = STATUS
        files: dict[str, BinaryIO] = {
            name: open_file(number) for number, name in enumerate(order.files, start=FIRST_FILE)
        }
        apply.confine(limits, layers, size=size, descriptors=FIRST_FILE + len(files))
        os.write(STATUS, READY)
        code = EXIT_RAISED
        code = _work(jobs[order.job], order.arguments, files, limits)
    except BaseException as problem:  # noqa: BLE001 - a child must never continue as its parent
        if code == EXIT_UNCONFINED:
            os.write(status, f"failed {type(problem).__name__}: {problem}"[:2000].encode())
    finally:
        os._exit(code)


def receive(connection: socket.socket) -> tuple[protocol.Order, list[int]]:
    """Receive the order and its descriptors: the report's pipe, then one for each file that the order names.

    Raises ValueError if the descriptors do not match the order, or if the order is too large.
    """
    connection.setblocking(True)
    packet, descriptors, flags, _ = socket.recv_fds(connection, protocol.PACKET_BYTES + 1, protocol.MOST_FILES + 1)
    if flags & socket.MSG_TRUNC:
        raise ValueError(f"the order has over {protocol.PACKET_BYTES} bytes, expected at most {protocol.PACKET_BYTES}")
    if flags & socket.MSG_CTRUNC:
        raise ValueError(f"the order has over {protocol.MOST_FILES} files, expected at most {protocol.MOST_FILES}")
    order = protocol.unpack(packet, protocol.Order)
    if len(descriptors) != 1 + len(order.files) or len(set(order.files)) != len(order.files):
        raise ValueError(
            f"the order has {len(descriptors)} descriptors and the files {order.files}, expected different files and "
            "one descriptor more than files"
        )
    return order, list(descriptors)


def _work(job: Job, arguments: dict[str, Any], files: dict[str, BinaryIO], limits: Limits) -> int:
    """Run the job, write its report and return the exit status. Exceptions are not raised: they could quote gold."""
    try:
        report, attachment = job(files, arguments)
        try:
            encoded = protocol.encode_report(report)
        except (ValueError, TypeError, RecursionError):
            return EXIT_OUTPUT
        header = protocol.frame_header(encoded, attachment)
        if len(header) + len(encoded) + len(attachment) > limits.output_bytes:
            return EXIT_OUTPUT
        for part in (header, encoded, attachment):
            _write(part)
    except MemoryError:
        return EXIT_MEMORY
    except BaseException as problem:  # noqa: BLE001 SystemExit too
        os.write(STATUS, sanitized_errors.describe(problem))
        # Nothing can be imported under the empty root: warm_up() missed a code path, which is an internal error.
        return EXIT_UNPREPARED if isinstance(problem, ImportError) else EXIT_RAISED
    return 0


def _write(part: bytes) -> None:
    view = memoryview(part)
    while view:
        view = view[os.write(REPORT, view) :]
