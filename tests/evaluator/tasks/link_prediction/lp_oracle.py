"""link-prediction by the letter of its protocol, in plain loops: what the scorer is held to."""

import json

MEASURES = ("mrr", "hits@1", "hits@3", "hits@10", "hits@50")


def rank(ranking, answers, filtered):
    """The place of the first answer, None where there is none."""
    kept = []
    for mention in ranking:
        if mention in kept:
            continue
        if mention in filtered and mention not in answers:
            continue
        kept.append(mention)
    for place, mention in enumerate(kept, 1):
        if mention in answers:
            return place
    return None


def score(gold, predictions, setting="filtered"):
    """{(measure, slice as JSON): (value, n)} for the whole, the sides and every declared dimension."""
    answers = {(type(line["id"]), line["id"]): line["ranking"] for line in predictions}
    rows = []
    for line in gold:
        ranking = answers.get((type(line["id"]), line["id"]), [])
        place = rank(ranking, line["answers"], line["filtered"] if setting == "filtered" else [])
        side = "tail" if line["question"][2] == "?" else "head"
        rows.append((place, {"side": side, **line.get("slices", {})}))
    scores = {}

    def add(where, places):
        n = len(places)
        scores["mrr", where] = (sum(1 / place for place in places if place) / n, n)
        for k in (1, 3, 10, 50):
            scores[f"hits@{k}", where] = (sum(1 for place in places if place and place <= k) / n, n)

    add("{}", [place for place, _ in rows])
    for where in {json.dumps({name: value}) for _, slices in rows for name, value in slices.items()}:
        add(where, [place for place, slices in rows if where in {json.dumps({k: v}) for k, v in slices.items()}])
    return scores
