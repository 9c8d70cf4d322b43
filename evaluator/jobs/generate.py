"""The sandbox's job that makes splits of raw files: the generators of the command line, on streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from evaluator.curation.generators.catalog import OFFERS, namespace
from evaluator.curation.generators.memory_workspace import MemoryBench
from evaluator.errors import UsageError
from evaluator.tasks.registry import find_task

Files = Mapping[str, BinaryIO]
Arguments = Mapping[str, Any]


def generate(files: Files, arguments: Arguments) -> tuple[dict[str, Any], bytes]:
    """Gold of one or more splits; the attachment is all of it, one part behind the other.

    files: "0", "1"...; the argument `sources` names each, as [what it is to the generator, its name]. `generator`,
    `parameters` (texts, as a form has them), `seed` and `salt` say the rest. The report quotes gold: `parts` has the
    name and the bytes of each, `told` is the generator's report and `text` the same in words.
    """
    find_task(arguments["task"])
    offer = OFFERS.get(arguments["generator"])
    if offer is None or (offer.tasks and arguments["task"] not in offer.tasks):
        raise UsageError(
            f"generator is {arguments['generator']!r}, expected one that makes gold of {arguments['task']}"
        )
    roles: dict[str, list[Path]] = {}
    streams: dict[Path, BinaryIO] = {}
    names = [name for _, name in arguments["sources"]]
    for place, (role, name) in enumerate(arguments["sources"]):
        # Two files of one name stay apart.
        path = Path(name) if names.count(name) == 1 else Path(str(place + 1)) / name
        roles.setdefault(role, []).append(path)
        streams[path] = files[str(place)]
    given = namespace(offer, arguments["parameters"], roles, seed=arguments["seed"], salt=arguments["salt"])
    with MemoryBench(streams) as bench:
        made = offer.generator.make(given, bench)
        outputs = bench.outputs()
    parts = {output: name for output, name in offer.parts(list(outputs)).items() if outputs[output]}
    report = {
        "ok": True,
        "version": offer.generator.version,
        "parts": [{"name": name, "bytes": len(outputs[output])} for output, name in parts.items()],
        "told": made.report,
        "text": made.text,
    }
    return report, b"".join(outputs[output] for output in parts)
