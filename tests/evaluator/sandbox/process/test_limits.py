"""Limits on a job's resources and on its report: each excess ends with its own verdict, or as the server's failure."""

from __future__ import annotations

import concurrent.futures
import json
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evaluator.errors import SandboxError, SandboxTimeoutError
from evaluator.sandbox.contract import Limits, Verdict
from evaluator.sandbox.process import protocol
from tests.evaluator.sandbox.process.conftest import Box
from tests.evaluator.sandbox.process.variants import LIKE_A_CONTAINER, Environment

pytestmark = pytest.mark.hostile

MEGABYTE = 1 << 20


@pytest.mark.parametrize("how", ["numpy", "bytes"])
def test_an_allocation_over_the_memory_limit(box: Box, how: str) -> None:
    limits = Limits(memory_bytes=256 * MEGABYTE)
    assert box.run("allocate", limits=limits, bytes=2 << 30, how=how).verdict == Verdict.MEMORY
    assert box.run("allocate", limits=limits, bytes=100 * MEGABYTE, how=how).verdict == Verdict.DONE


def test_many_small_allocations_over_the_memory_limit(box: Box) -> None:
    assert box.run("memory_by_pieces", limits=Limits(memory_bytes=64 * MEGABYTE)).verdict == Verdict.MEMORY


@pytest.mark.parametrize("arguments", [{}, {"deaf": True}, {"in_c": True}])
def test_endless_loop_ends_at_the_deadline(box: Box, arguments: dict[str, Any]) -> None:
    with pytest.raises(SandboxTimeoutError, match=r"of 20 s of processor time within its 0\.4 s"):
        box.run("spin", limits=Limits(wall_seconds=0.4), **arguments)


@pytest.mark.parametrize(
    "deaf",
    [pytest.param(False, id="default"), pytest.param(True, id="ignores signals", marks=pytest.mark.slow)],
)
def test_endless_loop_ends_at_the_processor_limit(box: Box, deaf: bool) -> None:
    result = box.run("spin", limits=Limits(cpu_seconds=1, wall_seconds=300), deaf=deaf)
    assert result.verdict == Verdict.TIME
    assert result.wall_seconds < 300
    assert result.cpu_seconds >= 1


def test_endless_loop_without_a_pid_namespace(own: Callable[..., Box], environment: Environment) -> None:
    """SIGXCPU ends it, as inside the project's own container. A process with pid 1 ignores that signal."""
    box = own(**replace(environment, refused=LIKE_A_CONTAINER).start)
    result = box.run("spin", limits=Limits(cpu_seconds=1, wall_seconds=300))
    assert not result.layers["pid_namespace"]
    assert result.verdict == Verdict.TIME and result.cpu_seconds > 0.5


def test_jobs_that_share_too_few_processors_are_not_at_fault(own: Callable[..., Box]) -> None:
    """Each would need 2 s of processor time and is allowed as much, but all of them get too little within 0.5 s."""
    box = own(parallel=8)

    def verdict(limits: Limits) -> str:
        try:
            return box.run("spin", limits=limits).verdict
        except SandboxTimeoutError:
            return "the server's failure"

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        late = pool.map(verdict, [Limits(cpu_seconds=2, wall_seconds=0.5)] * 7)
        greedy = pool.submit(verdict, Limits(cpu_seconds=0.1, wall_seconds=300))
        assert list(late) == ["the server's failure"] * 7
        assert greedy.result() == Verdict.TIME


@pytest.mark.parametrize("shut", [False, True])
def test_a_sleeper_ends_at_the_deadline(box: Box, shut: bool) -> None:
    with pytest.raises(SandboxTimeoutError, match=r"got 0\.\d of 20 s of processor time"):
        box.run("sleep", limits=Limits(wall_seconds=0.4), shut=shut)
    assert box.run("empty").verdict == Verdict.DONE


def test_a_gigabyte_of_output_is_cut(box: Box) -> None:
    result = box.run("flood", limits=Limits(output_bytes=MEGABYTE), descriptor=3)
    assert (result.verdict, result.report, result.attachment) == (Verdict.OUTPUT, None, b"")


@pytest.mark.parametrize("descriptor", [1, 2, 4])
def test_a_flood_of_other_descriptors_is_discarded(box: Box, descriptor: int) -> None:
    """Standard output is discarded; the status pipe is read up to its limit and then left full."""
    before = box.log.stat().st_size
    with pytest.raises(SandboxTimeoutError):
        box.run("flood", limits=Limits(wall_seconds=0.4), descriptor=descriptor)
    assert box.log.stat().st_size - before < 10_000


def test_printed_output_is_discarded(box: Box) -> None:
    result = box.run("prints", words="canary-on-stdout")
    assert result.report == {"printed": True}
    assert "canary-on-stdout" not in box.log.read_text()


INVALID_REPORTS = ["nan", "infinity", "numpy_nan", "nested_nan", "object", "bytes", "set", "deep", "surrogate"]


@pytest.mark.parametrize("what", INVALID_REPORTS)
def test_invalid_reports_are_refused(box: Box, what: str) -> None:
    assert box.run("report", what=what).verdict == Verdict.OUTPUT


def test_a_report_over_its_limit(box: Box) -> None:
    limits = Limits(output_bytes=10_000)
    assert box.run("report", limits=limits, what="large", bytes=9_000).verdict == Verdict.DONE
    assert box.run("report", limits=limits, what="large", bytes=10_000).verdict == Verdict.OUTPUT


@pytest.mark.parametrize("what", ["none", "list", "text", "three"])
def test_a_job_with_a_wrong_return_type(box: Box, what: str) -> None:
    assert box.run("wrong_shape", what=what).verdict in {Verdict.EXIT, Verdict.OUTPUT}


def frame(report: bytes, attachment: bytes = b"", magic: bytes = b"HOLD", longer: int = 0) -> bytes:
    return struct.pack("<4sIQ", magic, len(report) + longer, len(attachment)) + report + attachment


FORGERIES = {
    "nothing": b"",
    "half a header": b"HOLD\0\0",
    "another magic": frame(b"{}", magic=b"DLOH"),
    "a cut report": frame(b'{"a": 1}', longer=1),
    "an extra byte": frame(b"{}") + b"x",
    "two reports": frame(b"{}") * 2,
    "a giant size": struct.pack("<4sIQ", b"HOLD", 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF),
    "NaN": frame(b'{"a": NaN}'),
    "infinity": frame(b'{"a": 1e999}'),
    "a list": frame(b"[1]"),
    "no JSON": frame(b"{'a': 1}"),
    "trailing garbage": frame(b"{} {}"),
    "bad UTF-8": frame(b'{"a": "\xff"}'),
    "a lone surrogate": frame(b'{"a": "\\ud800"}'),
    "depth": frame(b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    "a traceback": b"Traceback (most recent call last):\n  KeyError: SUPPORTS\n",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_reports_are_refused(box: Box, name: str) -> None:
    result = box.run("forge", hex=FORGERIES[name].hex(), code=0)
    assert (result.verdict, result.report, result.attachment) == (Verdict.OUTPUT, None, b"")


def test_a_valid_forged_report_is_accepted(box: Box) -> None:
    """A fully compromised job can still send one valid report: its callers check the content."""
    result = box.run("forge", hex=frame(b'{"a": 1}', b"xyz").hex(), code=0)
    assert (result.verdict, result.report, result.attachment) == (Verdict.DONE, {"a": 1}, b"xyz")
    assert box.run("forge", hex=frame(b'{"a": 1}').hex(), code=7).verdict == Verdict.EXIT


@pytest.mark.parametrize("code", [1, 2, 42, 64, 80, 81, 84, 127, 128, 137, 255])
def test_exit_codes(box: Box, code: int) -> None:
    result = box.run("leave", code=code)
    assert (result.verdict, result.report) == (Verdict.EXIT, None)
    assert len(result.error_id) == 12


@pytest.mark.parametrize("how", ["segfault", "abort", "sys.exit", "interrupt", "recursion"])
def test_other_kinds_of_exit(box: Box, how: str) -> None:
    assert box.run("die", how=how, words="SUPPORTS").verdict == Verdict.EXIT


@pytest.mark.parametrize("what", ["PredictionError", "SandboxError", "UsageError"])
def test_our_exception_classes_raised_in_a_job_end_the_job(box: Box, what: str) -> None:
    assert box.run("raise_named", what=what).verdict == Verdict.EXIT


@pytest.mark.parametrize("options", [{}, {"named": True}, {"chained": True}, {"mute": True}])
def test_a_traceback_that_quotes_gold_is_never_shown_or_logged(box: Box, file: Any, options: dict[str, bool]) -> None:
    result = box.run("raise_gold", {"gold": file(b"canary label of gold")}, **options)
    assert result.verdict == Verdict.EXIT
    assert "canary" not in repr(result)
    lines = box.log.read_text()
    assert "canary" not in lines
    [line] = [line for line in map(json.loads, lines.splitlines()) if line.get("error_id") == result.error_id]
    expected = "no valid diagnosis" if {"named", "mute"} & set(options) else "in raise_gold"
    assert expected in line["what"]


@pytest.mark.parametrize("words", ["canary\n{}", "canary: SUPPORTS", "x" * 10_000, "\x1b[31mcanary", "Name at \n"])
def test_a_forged_diagnosis_is_not_logged(box: Box, words: str) -> None:
    result = box.run("forged_diagnosis", words=words, code=81)
    assert result.verdict == Verdict.EXIT
    lines = box.log.read_text()
    assert "canary" not in lines and "xxxx" not in lines
    [line] = [line for line in map(json.loads, lines.splitlines()) if line.get("error_id") == result.error_id]
    assert line["what"] == "no valid diagnosis"


def test_a_late_import_is_a_sandbox_error(box: Box) -> None:
    """warm_up() does not cover the module; this is not the submission's error."""
    with pytest.raises(SandboxError, match=r"warm_up\(\) does not cover.*late_import"):
        box.run("late_import")


def test_two_runs_give_the_same_bytes(box: Box) -> None:
    first, second = box.run("numbers"), box.run("numbers")
    assert first.report == second.report
    assert first.attachment == second.attachment and len(first.attachment) == 8000


def test_files_are_read_at_their_own_offset(box: Box, file: Any) -> None:
    text = file("first\nsecond ü\nlast".encode())
    os.lseek(text, 3, os.SEEK_SET)
    result = box.run("walk", {"text": text})
    assert result.report == {"lines": ["first\n", "second ü\n", "last"], "tail": "la", "first": "first\n", "place": 6}
    assert os.lseek(text, 0, os.SEEK_CUR) == 3


@pytest.mark.parametrize("size", [0, 1, 1 << 16, 5 * MEGABYTE])
def test_large_content_in_both_directions(box: Box, file: Any, size: int) -> None:
    result = box.run("echo", {"gold": file(b"g" * size)}, attachment="a" * min(size, 50_000))
    assert result.report is not None
    assert result.report["files"]["gold"] == "g" * size
    assert result.attachment == b"a" * min(size, 50_000)


@pytest.mark.parametrize("name", ["wall_seconds", "cpu_seconds", "memory_bytes", "output_bytes", "log_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), True, "1"])
def test_limits_must_be_positive_numbers(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


def test_an_order_larger_than_a_packet_is_refused_at_once(box: Box) -> None:
    with pytest.raises(SandboxError, match=f"expected at most {protocol.PACKET_BYTES}"):
        box.run("echo", much="x" * protocol.PACKET_BYTES)
