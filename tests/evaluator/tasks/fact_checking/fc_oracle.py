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
    """{slice as JSON: places in gold}. dimension_of: a line's own dimensions, which `slices` may override."""
    found = {"{}": list(range(len(gold)))}
    for place, line in enumerate(gold):
        for dimension, value in {**dimension_of(line), **line.get("slices", {})}.items():
            found.setdefault(json.dumps({dimension: value}), []).append(place)
    return found


def score(gold, predictions):
    """{(measure, slice): (value, n)}."""
    scores = {line["id"]: line["score"] for line in predictions}
    rows = [(float(scores[line["id"]]), line["label"]) for line in gold]
    result = {}
    for where, places in cells(gold, lambda line: {"relation": line["relation"]}).items():
        part = [rows[place] for place in places]
        result["auroc", where] = (auroc(part), len(part))
        result["average_precision", where] = (average_precision(part), len(part))
    return result
