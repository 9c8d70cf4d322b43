"""knowledge-base-population exactly as in its protocol, in plain loops: the reference for the fast scorer."""

import json
import statistics
from collections import defaultdict

DATES = {"5", "14", "15"}


def spans_overlap(a_start, a_end, b_start, b_end):
    return (
        b_start <= a_start < b_end or a_start <= b_start < a_end or b_start < a_end <= b_end or a_start < b_end <= a_end
    )


def text_match(a, b):
    return (
        a["propertyId"] == b["propertyId"]
        and spans_overlap(a["subjectStart"], a["subjectEnd"], b["subjectStart"], b["subjectEnd"])
        and spans_overlap(a["objectStart"], a["objectEnd"], b["objectStart"], b["objectEnd"])
    )


def exact_match(a, b):
    keys = ("propertyId", "subjectStart", "subjectEnd", "objectStart", "objectEnd")
    return all(a[key] == b[key] for key in keys)


def segment(uri):
    while uri.endswith("/"):
        uri = uri[:-1]
    return uri.split("/")[-1]


def link_match(a, b):
    return (
        a["propertyId"] == b["propertyId"]
        and segment(a["subjectUri"]) == segment(b["subjectUri"])
        and segment(a["objectUri"]) == segment(b["objectUri"])
    )


def linkable(facts):
    unique, seen = [], []
    for fact in facts:
        raw = (fact["subjectUri"], fact["propertyId"], fact["objectUri"])
        if "" in (raw[0], raw[2]) or fact["propertyId"] in DATES or raw in seen:
            continue
        seen.append(raw)
        unique.append(fact)
    return unique


MODES = {"text": text_match, "exact": exact_match, "link": link_match}


def count_passage(gold, predicted, match, scored, annotated):
    """[(property, "tp" | "fp" | "fn")] of one passage."""
    events = []
    pool = list(range(len(predicted)))
    for fact in gold:
        members = [other for other in predicted if match(other, fact)]
        if not members:
            events.append((fact["propertyId"], "fn"))
            continue
        events.append((fact["propertyId"], "tp"))
        pool = [i for i in pool if not any(match(predicted[i], member) for member in members)]
    for i in pool:
        prop = predicted[i]["propertyId"]
        if prop in scored and prop in annotated:
            events.append((prop, "fp"))
    return events


def answers_of(lines):
    """{(documentId, passageId): facts} of prediction lines in either layout."""
    answers = {}
    for line in lines:
        if "passages" in line:
            for passage in line["passages"]:
                answers[line["documentId"], passage["passageId"]] = passage["facts"]
        else:
            answers[line["documentId"], line["passageId"]] = line["facts"]
    return answers


def ratio(above, below):
    return above / below if below else 0.0


def f1(tp, fp, fn):
    precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
    return ratio(2 * precision * recall, precision + recall)


def score(gold, lines, fold=None):
    """{(measure, slice as JSON): (value, n)} for the whole, each property, each document slice and their crosses."""
    answers = answers_of(lines)
    names = {}
    for document in gold:
        for passage in document["passages"]:
            for prop in passage["exhaustivelyAnnotatedProperties"]:
                names[prop["propertyId"]] = prop["propertyName"]
    documents = [document for document in gold if fold is None or document["fold"] == fold]
    # (mode, document index, property) -> counts
    counts = defaultdict(lambda: {"tp": 0, "fp": 0, "fn": 0})
    spans = defaultdict(list)
    for mode, match in MODES.items():
        prepare = linkable if mode == "link" else list
        scored = {
            fact["propertyId"]
            for document in documents
            for passage in document["passages"]
            for fact in prepare(passage["facts"])
        }
        for index, document in enumerate(documents):
            for passage in document["passages"]:
                predicted = prepare(answers.get((document["documentId"], passage["passageId"]), []))
                annotated = {prop["propertyId"] for prop in passage["exhaustivelyAnnotatedProperties"]}
                for prop, event in count_passage(prepare(passage["facts"]), predicted, match, scored, annotated):
                    counts[mode, index, prop][event] += 1
    for index, document in enumerate(documents):
        for passage in document["passages"]:
            predicted = answers.get((document["documentId"], passage["passageId"]), [])
            for side, facts in (("gold", passage["facts"]), ("predicted", predicted)):
                for fact in facts:
                    for role in ("subject", "object"):
                        spans[side, index].append(max(0, fact[f"{role}End"] - fact[f"{role}Start"]))
    all_indices = range(len(documents))
    text_properties = {prop for (mode, _, prop), c in counts.items() if mode == "text" and c["tp"] + c["fn"]}
    scores = {}

    def add(where, indices, properties, *, whole_groups):
        for mode in MODES:
            total = {"tp": 0, "fp": 0, "fn": 0}
            per_property = defaultdict(lambda: {"tp": 0, "fp": 0, "fn": 0})
            for (other, index, prop), c in counts.items():
                if other == mode and index in indices and (properties is None or prop in properties):
                    for event, number in c.items():
                        total[event] += number
                        per_property[prop][event] += number
            n = total["tp"] + total["fn"]
            values = {
                "precision": ratio(total["tp"], total["tp"] + total["fp"]),
                "recall": ratio(total["tp"], n),
                "f1": f1(**total),
            }
            for name, value in values.items():
                scores[f"{mode}_{name}", where] = (value if n else None, n)
            if whole_groups:
                f1s = [f1(**c) for c in per_property.values() if c["tp"] + c["fn"]]
                scores[f"macro_{mode}_f1", where] = (statistics.mean(f1s) if f1s else None, len(f1s))
        if whole_groups:
            predicted_lengths = [length for index in indices for length in spans["predicted", index]]
            gold_lengths = [length for index in indices for length in spans["gold", index]]
            n = sum(c["tp"] + c["fn"] for (mode, index, _), c in counts.items() if mode == "text" and index in indices)
            value = None
            if n and predicted_lengths:
                value = ratio(statistics.median(predicted_lengths), statistics.median(gold_lengths))
            scores["span_ratio", where] = (value, n)

    add("{}", set(all_indices), None, whole_groups=True)
    for prop in text_properties:
        add(json.dumps({"property": names.get(prop, prop)}), set(all_indices), {prop}, whole_groups=False)
    dimensions = {name for document in documents for name in document.get("slices", {})}
    for name in dimensions:
        seen = {json.dumps(d["slices"][name]) for d in documents if name in d.get("slices", {})}
        by_group = defaultdict(set)
        for document in documents:
            group = document.get("group", document["documentId"])
            by_group[type(group), group].add(json.dumps(document.get("slices", {}).get(name)))
        uncut = all(len(values) == 1 for values in by_group.values())
        for value in seen:
            indices = {
                i
                for i, d in enumerate(documents)
                if name in d.get("slices", {}) and json.dumps(d["slices"][name]) == value
            }
            add(json.dumps({name: json.loads(value)}), indices, None, whole_groups=uncut)
    return scores
