"""fact-extraction exactly as in its protocol, in plain loops: the reference for the scorer."""

import json
from collections import defaultdict

RELATION_MEASURES = ("precision", "recall", "f1", "fact_acc")
MACRO_MEASURES = ("fact_acc_macro", "fact_acc_macro_zero")


def distinct(facts):
    unique = []
    for fact in facts:
        if list(fact) not in unique:
            unique.append(list(fact))
    return unique


def verifiable(facts, others):
    """The facts whose subject and relation occur together in one of the others."""
    return [fact for fact in facts if any(fact[:2] == other[:2] for other in others)]


def evaluate(texts):
    """texts: (gold facts, predicted facts) each. The measures' values, None for no value."""
    n_gold = sum(len(gold) for gold, _ in texts)
    if n_gold == 0:
        return dict.fromkeys((*RELATION_MEASURES, *MACRO_MEASURES))
    n_predicted = sum(len(predicted) for _, predicted in texts)
    right = sum(fact in gold for gold, predicted in texts for fact in predicted)
    precision = right / n_predicted if n_predicted else 0.0
    recall = right / n_gold
    accuracies = []
    met = judged = 0
    for gold, predicted in texts:
        t, g = verifiable(gold, predicted), verifiable(predicted, gold)
        both = [fact for fact in t if fact in g]
        met += len(both)
        judged += len(g)
        accuracies.append(len(both) / len(g) if g else None)
    defined = [accuracy for accuracy in accuracies if accuracy is not None]
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if right else 0.0,
        "fact_acc": met / judged if judged else None,
        "fact_acc_macro": sum(defined) / len(defined) if defined else None,
        "fact_acc_macro_zero": sum(defined) / len(texts) if defined else None,
    }


def score(gold, predictions):
    """{(measure, slice as JSON): (value, n)} for the whole, the relations and every declared dimension."""
    answers = {(type(line["id"]), line["id"]): line["facts"] for line in predictions}
    texts = []
    for line in gold:
        predicted = distinct(answers.get((type(line["id"]), line["id"]), []))
        group = line.get("group", line["id"])
        texts.append((distinct(line["facts"]), predicted, (type(group).__name__, group), line.get("slices", {})))
    scores = {}

    def add(key, selected, names):
        values = evaluate(selected)
        n = sum(len(facts) for facts, _ in selected)
        for name in names:
            scores[name, key] = (values[name], n)

    add("{}", [text[:2] for text in texts], RELATION_MEASURES + MACRO_MEASURES)
    for relation in {fact[1] for facts, *_ in texts for fact in facts}:
        selected = [
            ([fact for fact in facts if fact[1] == relation], [fact for fact in predicted if fact[1] == relation])
            for facts, predicted, *_ in texts
        ]
        add(json.dumps({"relation": relation}), selected, RELATION_MEASURES)
    for name in {name for *_, slices in texts for name in slices}:
        by_group = defaultdict(set)
        for *_, group, slices in texts:
            by_group[group].add(json.dumps(slices.get(name)))
        uncut = all(len(values) == 1 for values in by_group.values())
        for value in {json.dumps(slices[name]) for *_, slices in texts if name in slices}:
            selected = [text[:2] for text in texts if name in text[3] and json.dumps(text[3][name]) == value]
            key = json.dumps({name: json.loads(value)})
            add(key, selected, RELATION_MEASURES + (MACRO_MEASURES if uncut else ()))
    return scores
