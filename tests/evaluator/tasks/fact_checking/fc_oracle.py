"""fact-checking in plain loops over pairs and thresholds, with exact fractions."""

import json
from fractions import Fraction


def auroc(rows):
    """rows: (score, label) pairs; None with one class only."""
    right = [score for score, label in rows if label]
    wrong = [score for score, label in rows if not label]
    if not right or not wrong:
        return None
    won = sum(Fraction(2 * (a > b) + (a == b), 2) for a in right for b in wrong)
    return won / (len(right) * len(wrong))


def average_precision(rows):
    n_right = sum(label for _, label in rows)
    if n_right in {0, len(rows)}:
        return None
    total, before = Fraction(0), 0
    for threshold in sorted({score for score, _ in rows}, reverse=True):
        taken = [label for score, label in rows if score >= threshold]
        total += Fraction(sum(taken) - before, n_right) * Fraction(sum(taken), len(taken))
        before = sum(taken)
    return total


def cells(gold, dimension_of):
    """{slice as JSON: indices in gold}. dimension_of: a line's own dimensions, which `slices` may override."""
    indices_of = {"{}": list(range(len(gold)))}
    for i, line in enumerate(gold):
        for dimension, value in {**dimension_of(line), **line.get("slices", {})}.items():
            indices_of.setdefault(json.dumps({dimension: value}), []).append(i)
    return indices_of


def score(gold, predictions):
    """{(measure, slice): (value, n)}."""
    scores = {line["id"]: line["score"] for line in predictions}
    rows = [(float(scores[line["id"]]), line["label"]) for line in gold]
    result = {}
    for key, indices in cells(gold, lambda line: {"relation": line["relation"]}).items():
        selected = [rows[i] for i in indices]
        result["auroc", key] = (auroc(selected), len(selected))
        result["average_precision", key] = (average_precision(selected), len(selected))
    return result
