"""fact-verification exactly as in its protocol, in plain loops: the reference for the scorer."""

import json
from collections import defaultdict

NEI = "NOT ENOUGH INFO"


def ascii_upper(text):
    return "".join(chr(ord(ch) - 32) if "a" <= ch <= "z" else ch for ch in text)


def score(gold, predictions, max_evidence=5):
    """{(measure, slice as JSON): (value, n)} for the whole, the labels and every declared dimension."""
    answers = {(type(line["id"]), line["id"]): line for line in predictions}
    has_evidence = any("evidence" in line for line in gold)
    has_origin = any("origin" in line.get("slices", {}) for line in gold)
    rows = []
    for line in gold:
        answer = answers[type(line["id"]), line["id"]]
        label = ascii_upper(line["label"])
        right = ascii_upper(answer["predicted_label"]) == label
        predicted = answer.get("predicted_evidence", [])
        if max_evidence is not None:
            predicted = predicted[:max_evidence]
        sets = [[[page, number] for _, _, page, number in gold_set] for gold_set in line.get("evidence", [])]
        met = False
        for gold_set in sets:
            if all(sentence in predicted for sentence in gold_set):
                met = True
        union = [sentence for gold_set in sets for sentence in gold_set]
        hits = 0
        for sentence in predicted:
            hits += sentence in union
        slices = {"label": label, **line.get("slices", {})}
        group = line.get("group", line["id"])
        rows.append(
            {
                "claim": line["claim"],
                "group": (type(group).__name__, group),
                "right": right,
                "verifiable": label != NEI,
                "strict": right and (label == NEI or met),
                "precision": hits / len(predicted) if predicted else 1.0,
                "recall": 1.0 if met or not sets else 0.0,
                "origin": line.get("slices", {}).get("origin"),
                "slices": slices,
            }
        )
    scores = {}

    def add(key, selected, whole_groups):
        n = len(selected)
        scores["accuracy", key] = (sum(row["right"] for row in selected) / n, n)
        if has_evidence:
            scores["fever_score", key] = (sum(row["strict"] for row in selected) / n, n)
            checked = [row for row in selected if row["verifiable"]]
            precision, recall = 1.0, 0.0
            if checked:
                precision = sum(row["precision"] for row in checked) / len(checked)
                recall = sum(row["recall"] for row in checked) / len(checked)
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            scores["evidence_precision", key] = (precision, n)
            scores["evidence_recall", key] = (recall, n)
            scores["evidence_f1", key] = (f1, n)
        if has_origin and whole_groups:
            groups, pairs = defaultdict(list), defaultdict(list)
            for row in selected:
                groups[row["group"]].append(row["right"])
                pairs[row["group"], row["claim"]].append(row["right"])
            scores["group_accuracy", key] = (sum(map(all, groups.values())) / len(groups), len(groups))
            scores["claim_consistency", key] = (sum(map(all, pairs.values())) / len(pairs), n)
            by_origin = {}
            for origin in ("original", "generated"):
                by_origin[origin] = [row["right"] for row in selected if row["origin"] == origin]
            counted = sum(map(len, by_origin.values()))
            gap = None
            if all(by_origin.values()):
                accuracy = {origin: sum(correct) / len(correct) for origin, correct in by_origin.items()}
                gap = accuracy["original"] - accuracy["generated"]
            scores["symmetric_gap", key] = (gap, counted)

    add("{}", rows, True)
    declared = {name for line in gold for name in line.get("slices", {})}
    for name in declared | {"label"}:
        by_group = defaultdict(set)
        for row in rows:
            by_group[row["group"]].add(json.dumps(row["slices"].get(name)))
        uncut = name in declared and all(len(values) == 1 for values in by_group.values())
        for value in {json.dumps(row["slices"][name]) for row in rows if name in row["slices"]}:
            selected = [row for row in rows if name in row["slices"] and json.dumps(row["slices"][name]) == value]
            add(json.dumps({name: json.loads(value)}), selected, uncut)
    return scores
