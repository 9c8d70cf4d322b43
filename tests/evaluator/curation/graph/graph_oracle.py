"""The rules of scenarios over a plain list of triples: slow, and without any code of the generator."""

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
    """{entity: [(step, entity)]}; a step is a predicate, marked where it runs against its direction."""
    steps_of = defaultdict(set)
    for s, p, o in triples:
        if p not in banned and s != o:
            steps_of[s].add((p, o))
            steps_of[o].add((REVERSED + p, s))
    return steps_of


def paths(triples, begin, end, banned=()):
    """The steps of every path of length one to three that visits no entity twice."""
    steps_of = neighbours(triples, banned)
    paths_found = set()

    def go(entity, seen, steps):
        if entity == end:
            paths_found.add(steps)
            return
        if len(steps) < 3:
            for step, neighbour in steps_of[entity]:
                if neighbour not in seen:
                    go(neighbour, seen | {neighbour}, (*steps, step))

    go(begin, {begin}, ())
    return paths_found


def ends(triples, begin, path, banned=()):
    """The entities where a walk along the path may end."""
    steps_of = neighbours(triples, banned)
    reached = {begin}
    for path_step in path:
        reached = {neighbour for entity in reached for step, neighbour in steps_of[entity] if step == path_step}
    return reached


def passes(types, reference, other):
    want, have = set(types.get(reference, ())), set(types.get(other, ()))
    return len(want & have) >= min(4, len(want))


def walkable(triples, types, predicate, fact):
    """Every pair that Algorithm 1 may return for a true one."""
    true = {(s, o) for s, p, o in triples if p == predicate} | {(o, s) for s, p, o in triples if p == predicate}
    subject, object_ = fact
    pairs = set()
    for s, p, o in triples:
        if p == predicate or s == o:
            continue
        if s == subject and (subject, o) not in true and passes(types, object_, o):
            for path in paths(triples, subject, o, {predicate}):
                for end in ends(triples, subject, path, {predicate}) - {subject}:
                    if (subject, end) not in true and passes(types, object_, end):
                        pairs.add((subject, end))
        if o == object_ and (s, object_) not in true and passes(types, subject, s):
            for path in paths(triples, object_, s, {predicate}):
                for end in ends(triples, object_, path, {predicate}) - {object_}:
                    if (end, object_) not in true and passes(types, subject, end):
                        pairs.add((end, object_))
    return pairs


def closed_world(triples, types, predicate, fact):
    """Every pair that the local closed-world assumption makes false, for the object or subject of a true one."""
    true = {(s, o) for s, p, o in triples if p == predicate} | {(o, s) for s, p, o in triples if p == predicate}
    subject, object_ = fact
    pairs = set()
    for s, p, o in triples:
        if p == predicate or s == o or (s, o) in true:
            continue
        same_object_types = set(types.get(object_, ())) == set(types.get(o, ()))
        same_subject_types = set(types.get(subject, ())) == set(types.get(s, ()))
        if (s == subject and same_object_types) or (o == object_ and same_subject_types):
            pairs.add((s, o))
    return pairs


def average_linkage(points, distance):
    """Heights of all merges, and the clusters at a height: {frozenset of indices}."""
    clusters = [frozenset([i]) for i in range(len(points))]
    between = {
        frozenset([a, b]): distance(points[a], points[b]) for a, b in itertools.combinations(range(len(points)), 2)
    }

    def mean_distance(left, right):
        return sum(between[frozenset([a, b])] for a in left for b in right) / (len(left) * len(right))

    heights, states = [], [(0.0, set(clusters))]
    while len(clusters) > 1:
        left, right = min(itertools.combinations(clusters, 2), key=lambda pair: mean_distance(*pair))
        heights.append(mean_distance(left, right))
        clusters = [members for members in clusters if members not in (left, right)] + [left | right]
        states.append((heights[-1], set(clusters)))
    return heights, lambda threshold: [state for height, state in states if height <= threshold][-1]


def steepest(heights, n):
    """Of 100 even thresholds, the one where the number of clusters falls fastest, by central differences."""
    high = max(heights)
    thresholds = [high / 99 * i for i in range(99)] + [high]
    counts = [n - sum(height <= threshold for height in heights) for threshold in thresholds]
    falls = [(counts[min(i + 1, 99)] - counts[max(i - 1, 0)]) * (2 if i in (0, 99) else 1) for i in range(100)]
    return thresholds[falls.index(min(falls))]
