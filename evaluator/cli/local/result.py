"""Result of a local run (verdict, cost and the container's log), as text and as JSON."""

from __future__ import annotations

from typing import Any

from evaluator.cli.output import say
from evaluator.cli.sizes import size_text
from evaluator.sandbox.containers.system_contract import SystemResult


def as_json(task: str, result: SystemResult) -> dict[str, Any]:
    usage = result.usage
    return {
        "ok": False,
        "task": task,
        "verdict": result.verdict.value,
        "explanation": result.explanation,
        "exit_code": result.exit_code,
        "cost": {
            "wall_seconds": round(result.wall_seconds, 3),
            "cpu_seconds": usage.cpu_seconds,
            "peak_memory_bytes": usage.peak_memory_bytes,
            "peak_is_sampled": usage.peak_is_sampled,
            "image_bytes": result.image_bytes,
        },
        "sandbox": dict(result.layers),
        "log": result.log,
        "log_is_cut": result.log_is_cut,
    }


def say_cost(result: SystemResult) -> None:
    usage = result.usage
    parts = [f"{result.wall_seconds:.1f} s"]
    if usage.cpu_seconds is not None:
        parts.append(f"{usage.cpu_seconds:.1f} s of CPU time")
    if usage.peak_memory_bytes is not None:
        sampled = "at least " if usage.peak_is_sampled else ""
        parts.append(f"{sampled}{size_text(usage.peak_memory_bytes)} of memory")
    say(f"cost: {', '.join(parts)}; image {size_text(result.image_bytes)}")


def say_log(result: SystemResult) -> None:
    if result.log:
        say("--- output of the container" + (" (the end)" if result.log_is_cut else ""))
        say(result.log.rstrip("\n"))
        say("---")
