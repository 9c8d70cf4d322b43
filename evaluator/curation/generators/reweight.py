"""`split reweight`: training weights under which no n-gram of the claim predicts its label."""

from __future__ import annotations

import argparse
import math
from typing import Any

from evaluator.curation.generators.arguments import add_texts, add_words, dropped_words
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.labelled_texts import read_claims
from evaluator.errors import shown


def _penalty(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"is {shown(text)}, expected a number, 0 or more")
    return value


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_texts(parser)
    add_words(parser)
    parser.add_argument(
        "--lambda",
        dest="penalty",
        metavar="L",
        type=_penalty,
        required=True,
        help="penalty on weights: a large value leaves all weights at 1, a small one balances every n-gram",
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    from evaluator.curation.reweighting import presence_of, reweight

    claims = read_claims(bench.input("claims", args.claims), str(args.claims), text=args.text, label=args.label)
    drop = dropped_words(args, bench, claims.texts)
    presence = presence_of(claims.texts, n=args.grams, drop=drop, min_frequency=args.min_frequency)
    result = reweight(presence, claims.labels, penalty=args.penalty, seed=args.seed)
    lines = zip(claims.ids, result.weights.tolist(), strict=True)
    bench.write_rows("weights.jsonl", ({"id": name, "weight": weight} for name, weight in lines))
    before, after = result.objectives[0], result.objectives[-1]
    report: dict[str, Any] = {
        "claims": len(claims.ids),
        "dropped": drop,
        "ngrams": presence.shape[1],
        "objectives": result.objectives,
        "raised": int((result.alpha > 0).sum()),
        "largest_weight": float(result.weights.max()),
    }
    text = (
        f"{report['claims']} claims, {report['ngrams']} n-grams; dropped: {' '.join(drop) or 'none'}\n"
        f"objective {before:.6f} -> {after:.6f}\n"
        f"{report['raised']} weights raised, the largest {report['largest_weight']:.4f}"
    )
    return GeneratorResult(report, text)


GENERATOR = Generator(
    name="reweight",
    version=1,
    summary="weight training claims so that no n-gram predicts their label",
    add_arguments=_add_arguments,
    make=_make,
)
