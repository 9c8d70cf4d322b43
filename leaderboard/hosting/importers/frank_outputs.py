"""Conversion of the published outputs of metrics on FRANK to predictions files that can be submitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leaderboard.hosting.importers.published import PublishedFileError, demand, records
from leaderboard.hosting.importers.salted import Salt

OUTPUTS = ("baseline_factuality_metrics_outputs.json",)
ABOUT = frozenset({"hash", "model_name", "dataset", "split"})


def write_predictions(
    published: Path, target: Path, *, rated: Sequence[str], salt: Salt | None, say: Callable[[str], None]
) -> None:
    """Write a predictions file `METRIC.jsonl` to the folder `target` for each metric that scores every rated summary.

    published: folder of the published files, with the metrics' outputs. rated: ids of the rated summaries as in the
    gold. salt: the salt of these ids; None: they are not salted. say: called with each line of progress. Raises
    PublishedFileError if the outputs are missing or invalid, or if a file cannot be written or exists already.
    """
    source = demand(published, OUTPUTS)
    scores: dict[str, dict[str, float]] = {}
    for number, output in records(source, dict[str, Any]):
        if not {"hash", "model_name"} <= output.keys():
            raise PublishedFileError(
                f"{source.name}:{number}: found the keys {', '.join(output)}, expected hash and model_name too"
            )
        name = f"{output['hash']}:{output['model_name']}"
        public = salt.id(name) if salt else name
        for metric in output.keys() - ABOUT:
            if type(output[metric]) in (int, float):
                scores.setdefault(metric, {})[public] = output[metric]
    encode = msgspec.json.Encoder().encode_lines
    written = 0
    target.mkdir(parents=True, exist_ok=True)
    for metric, by_id in sorted(scores.items()):
        missing = len(set(rated) - by_id.keys())
        if missing:
            say(f"{metric}: {missing} of {len(rated)} summaries have no score; the metric is left out")
            continue
        path = target / f"{metric.lower().replace(' ', '_')}.jsonl"
        try:
            with path.open("xb") as file:
                file.write(encode([{"id": name, "score": by_id[name]} for name in rated]))
        except OSError as error:
            raise PublishedFileError(f"{path}: cannot be written: {error.strerror}") from error
        written += 1
    say(f"{source.name}: predictions of {written} metrics in {target}")
