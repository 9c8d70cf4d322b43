"""Scenarios' rules over a plain list of triples: slow, and without a line of the generator's."""

import itertools
from collections import defaultdict

REVERSED = "(-1)"


def degree(triples, entity):
    return sum((s == entity) + (o == entity) for s, _, o in triples)


def popularity(triples, predicate, subject, object_):
    ends = {end for s, p, o in triples if p == predicate for end in (s, o)}
    mean = sum(degree(triples, end) for end in ends) / len(ends)
    a, b = degree(triples, subject), degree(triples, object_)
    return min(a, b) * (1 + max(a, b) / mean)


def neighbours(triples, banned=()):
    """{entity: [(step, entity)]}; a step is a predicate, with a mark where it goes against its direction."""
    found = defaultdict(set)
    for s, p, o in triples:
        if p not in banned and s != o:
            found[s].add((p, o))
            found[o].add((REVERSED + p, s))
    return found


def paths(triples, begin, end, banned=()):
    """The steps of every path of one to three, without an entity twice."""
    beside = neighbours(triples, banned)
    found = set()

    def go(here, seen, steps):
        if here == end:
            found.add(steps)
            return
        if len(steps) < 3:
            for step, there in beside[here]:
                if there not in seen:
                    go(there, seen | {there}, (*steps, step))

    go(begin, {begin}, ())
    return found


def ends(triples, begin, path, banned=()):
    """Where a walk along the path may end."""
    beside = neighbours(triples, banned)
    here = {begin}
    for wanted in path:
        here = {there for entity in here for step, there in beside[entity] if step == wanted}
    return here


def passes(types, wanted, other):
    want, have = set(types.get(wanted, ())), set(types.get(other, ()))
    return len(want & have) >= min(4, len(want))


def walkable(triples, types, predicate, fact):
    """Every pair that Algorithm 1 may give for a true one."""
    true = {(s, o) for s, p, o in triples if p == predicate} | {(o, s) for s, p, o in triples if p == predicate}
    subject, object_ = fact
    found = set()
    for s, p, o in triples:
        if p == predicate or s == o:
            continue
        if s == subject and (subject, o) not in true and passes(types, object_, o):
            for path in paths(triples, subject, o, {predicate}):
                for end in ends(triples, subject, path, {predicate}) - {subject}:
                    if (subject, end) not in true and passes(types, object_, end):
                        found.add((subject, end))
        if o == object_ and (s, object_) not in true and passes(types, subject, s):
            for path in paths(triples, object_, s, {predicate}):
                for end in ends(triples, object_, path, {predicate}) - {object_}:
                    if (end, object_) not in true and passes(types, subject, end):
                        found.add((end, object_))
    return found


def closed_world(triples, types, predicate, fact):
    """Every pair that the local closed-world assumption makes false, for the object (the subject) of a true one."""
    true = {(s, o) for s, p, o in triples if p == predicate} | {(o, s) for s, p, o in triples if p == predicate}
    subject, object_ = fact
    found = set()
    for s, p, o in triples:
        if p == predicate or s == o or (s, o) in true:
            continue
        alike_object = set(types.get(object_, ())) == set(types.get(o, ()))
        alike_subject = set(types.get(subject, ())) == set(types.get(s, ()))
        if (s == subject and alike_object) or (o == object_ and alike_subject):
            found.add((s, o))
    return found


def average_linkage(points, distance):
    """Heights of all merges, and the clusters at a height: {frozenset of places}."""
    clusters = [frozenset([place]) for place in range(len(points))]
    between = {
        frozenset([a, b]): distance(points[a], points[b]) for a, b in itertools.combinations(range(len(points)), 2)
    }

    def apart(left, right):
        return sum(between[frozenset([a, b])] for a in left for b in right) / (len(left) * len(right))

    heights, states = [], [(0.0, set(clusters))]
    while len(clusters) > 1:
        left, right = min(itertools.combinations(clusters, 2), key=lambda pair: apart(*pair))
        heights.append(apart(left, right))
        clusters = [one for one in clusters if one not in (left, right)] + [left | right]
        states.append((heights[-1], set(clusters)))
    return heights, lambda threshold: [found for height, found in states if height <= threshold][-1]


def steepest(heights, n):
    """The threshold of 100 even ones where the number of clusters falls fastest, by central differences."""
    high = max(heights)
    thresholds = [high / 99 * i for i in range(99)] + [high]
    counts = [n - sum(height <= threshold for height in heights) for threshold in thresholds]
    falls = [(counts[min(i + 1, 99)] - counts[max(i - 1, 0)]) * (2 if i in (0, 99) else 1) for i in range(100)]
    return thresholds[falls.index(min(falls))]
