"""link-prediction exactly as in its protocol, in plain loops: the reference for the scorer."""

import json

MEASURES = ("mrr", "hits@1", "hits@3", "hits@10", "hits@50")


def rank(ranking, answers, filtered):
    """The rank of the first answer, or None."""
    counted = []
    for mention in ranking:
        if mention in counted:
            continue
        if mention in filtered and mention not in answers:
            continue
        counted.append(mention)
    for position, mention in enumerate(counted, 1):
        if mention in answers:
            return position
    return None


def score(gold, predictions, setting="filtered"):
    """{(measure, slice as JSON): (value, n)} for the whole, the sides and every declared dimension."""
    answers = {(type(line["id"]), line["id"]): line["ranking"] for line in predictions}
    rows = []
    for line in gold:
        ranking = answers.get((type(line["id"]), line["id"]), [])
        first = rank(ranking, line["answers"], line["filtered"] if setting == "filtered" else [])
        side = "tail" if line["question"][2] == "?" else "head"
        rows.append((first, {"side": side, **line.get("slices", {})}))
    scores = {}

    def add(key, ranks):
        n = len(ranks)
        scores["mrr", key] = (sum(1 / first for first in ranks if first) / n, n)
        for k in (1, 3, 10, 50):
            scores[f"hits@{k}", key] = (sum(1 for first in ranks if first and first <= k) / n, n)

    add("{}", [first for first, _ in rows])
    for key in {json.dumps({name: value}) for _, slices in rows for name, value in slices.items()}:
        add(key, [first for first, slices in rows if key in {json.dumps({k: v}) for k, v in slices.items()}])
    return scores
