"""`audit cues`: rank the n-grams of a claim that predict its label."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from evaluator.curation.generators.arguments import add_texts, add_words, dropped_words, positive
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.labelled_texts import read_claims
from evaluator.curation.text_stats.cues import Cue, cue_table

_PER_MILLION = 1e6


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_texts(parser)
    add_words(parser)
    parser.add_argument(
        "--top", type=positive, default=10, help="number of n-grams to show for each label (default: 10)"
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    claims = read_claims(bench.input("claims", args.claims), str(args.claims), text=args.text, label=args.label)
    drop = dropped_words(args, bench, claims.texts)
    table = cue_table(claims.texts, claims.labels, n=args.grams, drop=drop, min_frequency=args.min_frequency)
    ranked = {label: list(table.ranked(label)) for label in table.labels}
    if bench.keeps:
        file, encode = bench.output("cues.jsonl"), msgspec.json.Encoder().encode
        for cues in ranked.values():
            file.writelines(encode(cue._asdict()) + b"\n" for cue in cues)
    report: dict[str, Any] = {
        "claims": len(claims.ids),
        "dropped": drop,
        "ngrams": len(table.ngrams),
        "occurrences": dict(zip(table.labels, table.of_label.tolist(), strict=True)),
        "top": {label: [cue._asdict() for cue in cues[: args.top]] for label, cues in ranked.items()},
    }
    text = [f"{len(claims.ids)} claims, {len(table.ngrams)} n-grams; dropped: {' '.join(drop) or 'none'}"]
    for label, cues in ranked.items():
        text += ["", label, f"{'LMI x 10^6':>12} {'p(l|w)':>7} {'count':>7}  n-gram"]
        text += [_row(cue) for cue in cues[: args.top]]
    return GeneratorResult(report, "\n".join(text))


def _row(cue: Cue) -> str:
    return f"{cue.lmi * _PER_MILLION:12.0f} {cue.p:7.2f} {cue.n_label:7d}  {cue.ngram}"


GENERATOR = Generator(
    name="cues",
    version=1,
    summary="rank the n-grams that predict a claim's label, by local mutual information",
    add_arguments=_add_arguments,
    make=_make,
    seeded=False,
)
