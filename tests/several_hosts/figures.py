"""Tables of what was measured."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.several_hosts.traffic import Accepted, Wait


def percentiles(values: Sequence[float]) -> str:
    """Return median, 99th percentile and maximum of seconds; a dash if there are none."""
    if not values:
        return f"{'-':>6} {'-':>6} {'-':>6}"
    ordered = sorted(values)
    p99 = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return f"{statistics.median(ordered):6.2f} {p99:6.2f} {ordered[-1]:6.2f}"


def stages(
    spans: Mapping[str, tuple[float, float]],
    accepted: Sequence[Accepted],
    scored: Mapping[str, float],
    waits: Sequence[Wait],
) -> list[str]:
    """Return one line a stage.

    spans: when each stage began and ended. Waits count for the stage in which they began; their seconds are median,
    99th percentile and maximum.
    """
    head = f"{'stage':<24} {'s':>5} {'accepted/s':>10} {'scored/s':>8}"
    head += f"   {'page':^20}   {'upload':^20}   {'until scored':^20}   answers other than 200, 201"
    lines = [head]
    for name, (begin, end) in spans.items():
        seconds = end - begin
        mine = [row for row in accepted if row.stage == name]
        ended = sum(begin <= at < end for at in scored.values())
        until = [scored[row.pk] - row.at for row in mine if row.pk in scored]
        pages = [wait.seconds for wait in waits if wait.stage == name and wait.kind == "page"]
        uploads = [wait.seconds for wait in waits if wait.stage == name and wait.kind == "upload"]
        others = Counter(wait.status for wait in waits if wait.stage == name and wait.status not in (200, 201))
        rest = ", ".join(f"{n} of {status or 'none'}" for status, n in sorted(others.items()))
        lines.append(
            f"{name:<24} {seconds:5.0f} {len(mine) / seconds:10.2f} {ended / seconds:8.2f}"
            f"   {percentiles(pages)}   {percentiles(uploads)}   {percentiles(until)}   {rest}"
        )
    return lines


def processor_time(seconds: Mapping[str, float], submissions: int) -> list[str]:
    if not seconds:
        return ["not measured: this kernel's control groups cannot be used"]
    rows = sorted(seconds.items(), key=lambda row: -row[1])
    total = sum(seconds.values())
    return [
        f"{kind:<12} {used:9.1f} s in all {1000 * used / max(1, submissions):9.1f} ms a submission"
        for kind, used in [*rows, ("all", total)]
    ]
