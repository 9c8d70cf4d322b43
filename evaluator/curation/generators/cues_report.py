"""`audit cues`: rank the n-grams of a claim that predict its label, also after re-weighting and in other claims."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.curation.generators.arguments import add_texts, add_words, dropped_words, positive
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.html_page import page, scrolling, table
from evaluator.curation.io.labelled_texts import Claims, read_claims, read_weights
from evaluator.curation.io.line_chart import line_chart
from evaluator.curation.text_stats.cue_transfer import correlations, coverage
from evaluator.curation.text_stats.cues import CueTable, cue_table, recount
from evaluator.errors import GoldError, Problem, shown

_PER_MILLION = 1e6
_CORRELATION, _COVERAGE = "correlation", "coverage"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_texts(parser)
    add_words(parser)
    parser.add_argument(
        "--top", type=positive, default=10, help="number of n-grams to show for each label (default: 10)"
    )
    parser.add_argument(
        "--weights",
        type=Path,
        help="weights of CLAIMS, as `split reweight` writes them: also show LMI and p(l|w) of the weighted claims",
    )
    parser.add_argument(
        "--beside",
        dest="dev",
        type=Path,
        metavar="DEV",
        help="other claims, such as the development set: show the n-grams of CLAIMS in both, with correlation and "
        "coverage",
    )


@dataclass(frozen=True)
class _Cues:
    """Cue tables with the same n-grams as rows.

    plain: of the claims. weighted: of the claims with weights; None: no weights are given. dev: of the file of
    --beside; None: no such file is given.
    """

    plain: CueTable
    weighted: CueTable | None
    dev: CueTable | None

    def ranked(self, label: str) -> list[dict[str, Any]]:
        """Return the label's cues (n-grams that predict it) as JSON values, highest LMI first.

        A cue has further keys for its numbers in the weighted claims and in those of --beside, where these are given.
        """
        cues = [cue._asdict() for cue in self.plain.ranked(label)]
        column, order = self.plain.labels.index(label), self.plain.order(label).tolist()
        if self.weighted is not None:
            lmi, p = self.weighted.lmi()[:, column], self.weighted.probabilities()[:, column]
            rank = {row: rank for rank, row in enumerate(self.weighted.order(label).tolist(), 1)}
            for cue, row in zip(cues, order, strict=True):
                cue |= {"weighted_lmi": float(lmi[row]), "weighted_p": float(p[row]), "weighted_rank": rank[row]}
        if self.dev is not None:
            lmi, p, n = self.dev.lmi()[:, column], self.dev.probabilities()[:, column], self.dev.counts
            for cue, row in zip(cues, order, strict=True):
                total = int(n[row].sum())
                cue |= {
                    "dev_lmi": float(lmi[row]),
                    "dev_p": float(p[row]) if total else None,
                    "dev_n_label": int(n[row, column]),
                    "dev_n": total,
                }
        return cues


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    claims = read_claims(bench.input("claims", args.claims), str(args.claims), text=args.text, label=args.label)
    drop = dropped_words(args, bench, claims.texts)
    plain = cue_table(claims.texts, claims.labels, n=args.grams, drop=drop, min_frequency=args.min_frequency)
    weighted = dev = other = None
    if args.weights is not None:
        weights = np.array(read_weights(bench.input("weights", args.weights), str(args.weights), claims.ids))
        weighted = recount(plain, claims.texts, claims.labels, n=args.grams, drop=drop, weights=weights)
    if args.dev is not None:
        other = read_claims(bench.input("dev", args.dev), str(args.dev), text=args.text, label=args.label)
        _check_labels(other, str(args.dev), plain.labels)
        dev = recount(plain, other.texts, other.labels, n=args.grams, drop=drop)
    cues = _Cues(plain, weighted, dev)
    ranked = {label: cues.ranked(label) for label in plain.labels}
    report: dict[str, Any] = {
        "claims": len(claims.ids),
        "dropped": drop,
        "ngrams": len(plain.ngrams),
        "occurrences": dict(zip(plain.labels, plain.of_label.tolist(), strict=True)),
        "top": {label: cues[: args.top] for label, cues in ranked.items()},
    }
    if other is not None and dev is not None:
        report |= {
            "dev_claims": len(other.ids),
            _CORRELATION: {label: _correlations(plain, dev, label) for label in plain.labels},
            _COVERAGE: {
                label: _coverage(plain, (claims, other), label, n=args.grams, drop=drop) for label in plain.labels
            },
        }
    if bench.keeps:
        _write(report, ranked, bench)
    return GeneratorResult(report, _text(report))


def _check_labels(claims: Claims, file: str, labels: list[str]) -> None:
    """Raise GoldError if a claim has a label that is not among `labels`."""
    if unknown := sorted(set(claims.labels) - set(labels)):
        raise GoldError([Problem(file, None, "unknown label", shown(unknown[0]), f"one of: {', '.join(labels)}")])


def _correlations(plain: CueTable, dev: CueTable, label: str) -> list[dict[str, Any]]:
    return [
        {"top": top, "pearson": pearson, "spearman": spearman}
        for top, pearson, spearman in correlations(plain, dev, label)
    ]


def _coverage(
    plain: CueTable, files: tuple[Claims, Claims], label: str, *, n: int, drop: list[str]
) -> list[dict[str, Any]]:
    claims, dev = (coverage(plain, read.texts, read.labels, label, n=n, drop=drop) for read in files)
    return [
        {"top": top, "claims": share, "dev": share_dev}
        for (top, share), (_, share_dev) in zip(claims, dev, strict=True)
    ]


def _write(report: dict[str, Any], ranked: dict[str, list[dict[str, Any]]], bench: Workspace) -> None:
    bench.write_rows("cues.jsonl", chain.from_iterable(ranked.values()))
    charts = _charts(report)
    for name, chart in charts.items():
        bench.output(f"{name}.svg").write(chart.encode())
    bench.output("cues.html").write(_html(report, charts).encode())


def _charts(report: dict[str, Any]) -> dict[str, str]:
    """Return SVG charts by name: how p(label | n-gram) correlates between the two files, and the share of covered
    claims.

    A claim is covered if it contains one of the n-grams with the highest LMI. There are no charts without --beside, or
    with fewer n-grams than the smallest of `cue_transfer.TOPS`.
    """
    if not any(report.get(_CORRELATION, {}).values()):
        return {}
    return {
        _CORRELATION: line_chart(
            "Correlation of p(label | n-gram) between the two files",
            "n-grams with the highest LMI",
            "Pearson's correlation",
            {label: [(row["top"], row["pearson"]) for row in rows] for label, rows in report[_CORRELATION].items()},
        ),
        _COVERAGE: line_chart(
            "Share of the label's claims that contain one of the n-grams",
            "n-grams with the highest LMI",
            "share of DEV's claims",
            {label: [(row["top"], row["dev"]) for row in rows] for label, rows in report[_COVERAGE].items()},
        ),
    }


def _columns(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (key in the report, heading, format specification) of each column of the cue table."""
    columns = [("lmi", "LMI x 10^6", "lmi"), ("p", "p(l|w)", ".2f"), ("n_label", "count", "d")]
    first: dict[str, Any] = next((cues[0] for cues in report["top"].values() if cues), {})
    if "weighted_lmi" in first:
        columns += [
            ("weighted_lmi", "weighted LMI", "lmi"),
            ("weighted_p", "weighted p", ".2f"),
            ("weighted_rank", "weighted rank", "d"),
        ]
    if "dev_lmi" in first:
        columns += [
            ("dev_lmi", "DEV LMI", "lmi"),
            ("dev_p", "DEV p", ".2f"),
            ("dev_n_label", "DEV count", "d"),
        ]
    return columns


def _cell(value: float | None, layout: str) -> str:
    if value is None:
        return "-"
    return f"{value * _PER_MILLION:.0f}" if layout == "lmi" else format(value, layout)


def _curve_rows(report: dict[str, Any], label: str) -> list[list[str]]:
    """Return the cells of the label's table of `_CURVE_HEADINGS`: one row for each number of n-grams with the highest
    LMI.

    A row shows how p(label | n-gram) correlates between the two files, and the share of claims with such an n-gram.
    """
    rows = zip(report[_CORRELATION][label], report[_COVERAGE][label], strict=True)
    return [
        [str(row["top"]), *(_cell(row[key], ".3f") for key in ("pearson", "spearman", "claims", "dev"))]
        for row in (correlation | share for correlation, share in rows)
    ]


_CURVE_HEADINGS = ["top", "Pearson", "Spearman", "coverage", "DEV coverage"]


def _summary(report: dict[str, Any]) -> str:
    dropped = " ".join(report["dropped"]) or "none"
    dev = f"; DEV: {report['dev_claims']} claims" if "dev_claims" in report else ""
    return f"{report['claims']} claims, {report['ngrams']} n-grams; dropped: {dropped}{dev}"


def _text(report: dict[str, Any]) -> str:
    columns = _columns(report)
    widths = [max(len(heading), 12 if layout == "lmi" else 7) for _, heading, layout in columns]
    text = [_summary(report)]
    for label, cues in report["top"].items():
        headings = [f"{heading:>{width}}" for (_, heading, _), width in zip(columns, widths, strict=True)]
        text += ["", label, " ".join([*headings, " n-gram"])]
        for cue in cues:
            cells = [
                f"{_cell(cue[key], layout):>{width}}" for (key, _, layout), width in zip(columns, widths, strict=True)
            ]
            text.append(" ".join([*cells, f" {cue['ngram']}"]))
        if _CORRELATION in report:
            text += [" ".join(f"{cell:>12}" for cell in row) for row in (_CURVE_HEADINGS, *_curve_rows(report, label))]
    return "\n".join(text)


def _html(report: dict[str, Any], charts: dict[str, str]) -> str:
    columns = _columns(report)
    parts = ["<h1>Cues</h1>", f"<p>{escape(_summary(report))}</p>", *map(scrolling, charts.values())]
    for label, cues in report["top"].items():
        rows = [[cue["ngram"], *(_cell(cue[key], layout) for key, _, layout in columns)] for cue in cues]
        parts += [f"<h2>{escape(label)}</h2>", table(["n-gram", *(heading for _, heading, _ in columns)], rows)]
        if _CORRELATION in report:
            parts += ["<h3>Correlation and coverage</h3>", table(_CURVE_HEADINGS, _curve_rows(report, label))]
    return page("Cues", "".join(parts))


GENERATOR = Generator(
    name="cues",
    version=2,
    summary="rank the n-grams that predict a claim's label, by local mutual information",
    add_arguments=_add_arguments,
    make=_make,
    seeded=False,
)
