"""Scenarios over any small graph: the promised properties, or a refusal."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.embeddings import embed
from evaluator.curation.scenarios.matrix import combinations, decimal, matrix, name, recurrence
from evaluator.curation.scenarios.scenario import Claim, MatrixParams, ScenarioParams, Scenarios
from evaluator.errors import UsageError
from tests.evaluator.curation.graph import graph_oracle, small_graphs
from tests.support.full_run import examples

shares = st.sampled_from(["0", "0.3", "0.5", "1"])


def scenarios_of(triples, types, params, **more):
    graph = Graph(triples)
    return Scenarios(graph, "p", params, types=types, vectors=lambda: embed(graph, seed=0), **more)


@given(
    small_graphs.graphs(40),
    small_graphs.types,
    st.builds(ScenarioParams, shares, st.none() | shares, st.sampled_from(["popular", "non-popular", "random"])),
    st.builds(
        MatrixParams, st.integers(2, 7), st.sampled_from(["1", "0.5", "2"]), st.integers(0, 5), pool=st.integers(0, 9)
    ),
    st.sampled_from(["walks", "closed-world"]),
    st.sets(st.tuples(small_graphs.entity, small_graphs.entity), max_size=4),
)
@settings(deadline=None, max_examples=examples(300))
def test_scenarios_have_the_promised_properties_or_are_refused(triples, types, cell, params, plausible, avoid):
    params = MatrixParams(params.size, params.ratio, params.seed, plausible, params.pool)
    try:
        claims = scenarios_of(triples, types, params, avoid=avoid).claims(cell)
    except UsageError:
        event("refused")
        return
    event("made")
    pairs = [(claim.subject, claim.object) for claim in claims]
    assert len(set(pairs)) == len(pairs) == params.size
    assert not avoid & set(pairs)
    facts = {(s, o) for s, p, o in triples if p == "p"}
    links = {(s, o) for s, _, o in triples}
    false = [claim for claim in claims if not claim.label]
    ratio = Fraction(params.ratio)
    assert params.size - len(false) == -(-params.size * ratio // (1 + ratio))
    assert (
        Counter(claim.origin == "unrelated" for claim in false)[False]
        == (1 - Fraction(cell.transparency)) * len(false) // 1
    )
    rule = graph_oracle.walkable if plausible == "walks" else graph_oracle.closed_world
    for claim in claims:
        pair = claim.subject, claim.object
        assert (pair in facts) == claim.label
        if claim.origin == "unrelated":
            assert not {pair, pair[::-1]} & links
        elif not claim.label:
            assert pair in rule(triples, types, "p", claim.source)
            assert claim.object in graph_oracle.ends(triples, claim.subject, claim.path, {"p"})
    assert scenarios_of(list(reversed(triples)), types, params, avoid=avoid).claims(cell) == claims


def test_a_plausible_claim_is_not_reused_as_an_unrelated_one():
    """(a, d) may end a walk and is also the only unlinked pair: it can be one claim, but not two."""
    triples = [("a", "p", "b"), ("c", "p", "d"), ("a", "r", "m"), ("m", "s", "z"), ("m", "s", "d"), ("a", "q", "z")]
    refused = 0
    for seed in range(60):
        try:
            claims = scenarios_of([*triples, ("c", "q", "b")], {}, MatrixParams(4, seed=seed)).claims(
                ScenarioParams("0.5")
            )
        except UsageError as error:
            assert "0 pairs of subjects and objects" in str(error)
            refused += 1
        else:
            assert len({(claim.subject, claim.object) for claim in claims}) == 4
    assert 0 < refused < 60


def test_combinations_keep_their_order_and_names_equal_file_names():
    params = combinations(["0.5", "1"], ["0.25", None], ["non-popular", "random"])
    assert [(cell.popularity, cell.homogeneity, cell.transparency) for cell in params][:3] == [
        ("non-popular", "0.25", "0.5"),
        ("non-popular", "0.25", "1"),
        ("non-popular", None, "0.5"),
    ]
    scenarios = scenarios_of([("a", "p", "b"), ("c", "p", "d")], {}, MatrixParams(2, "0.20"))
    assert name(params[1], scenarios) == "c1.0 h0.25 s2 r0.2 nopopular"
    assert name(params[6], scenarios) == "c0.5 s2 r0.2 random"
    assert [decimal(text) for text in ("1", "0.50", "00.2", "10", "0")] == ["1.0", "0.5", "0.2", "10.0", "0.0"]


def test_a_matrix_keeps_the_requested_order():
    scenarios = scenarios_of([("a", "p", "b"), ("c", "p", "d"), ("a", "q", "d")], {}, MatrixParams(2))
    params = combinations(["1", "0"], [None], ["popular", "random"])
    assert [cell for cell, _ in matrix(scenarios, params)] == params


@pytest.mark.parametrize(
    ("labels", "expected"), [([(1, 0), (1, 0)], 1.0), ([(1, 1), (0, 0)], 0.5), ([(0, 1), (0, 1)], 0.0)]
)
def test_recurrence_as_a_predictor_of_the_label(labels, expected):
    """Pair 0 is in both scenarios, the other pairs in one; labels: of pair 0 and of the other pair."""
    scenarios = [
        (ScenarioParams("1"), [Claim("s", "0", bool(first), ""), Claim("s", f"{number}", bool(other), "")])
        for number, (first, other) in enumerate(labels, 1)
    ]
    assert recurrence(scenarios) == expected


@given(
    small_graphs.graphs(60),
    st.lists(st.builds(ScenarioParams, shares, st.none() | shares), min_size=2, max_size=3, unique=True),
    st.builds(MatrixParams, st.integers(2, 4), st.just("1"), st.integers(0, 5)),
)
@settings(deadline=None, max_examples=examples(200))
def test_pairs_used_in_a_single_scenario(triples, wanted_cells, params):
    plain, once = (scenarios_of(triples, {}, params) for _ in range(2))
    try:
        disjoint = matrix(once, wanted_cells, once=True)
    except UsageError:
        event("refused")
        return
    event("made")
    pairs = [(claim.subject, claim.object) for _, claims in disjoint for claim in claims]
    assert len(set(pairs)) == len(pairs) == params.size * len(wanted_cells)
    assert recurrence(disjoint) == 0.5
    first = min(wanted_cells, key=lambda cell: Fraction(cell.transparency))
    assert dict(disjoint)[first] == plain.claims(first)
    facts = {(s, o) for s, p, o in triples if p == "p"}
    assert all(((claim.subject, claim.object) in facts) == claim.label for _, claims in disjoint for claim in claims)


def test_pairs_used_once_are_used_in_one_direction():
    couples = [(f"a{n}", f"b{n}") for n in range(12)]
    triples = [triple for s, o in couples for triple in ((s, "p", o), (o, "p", s))]
    cells = combinations(["1"], [None], ["random", "popular"])
    for seed in range(9):
        first, second = (
            {(claim.subject, claim.object) for claim in claims}
            for _, claims in matrix(scenarios_of(triples, {}, MatrixParams(8, seed=seed)), cells, once=True)
        )
        assert not second & (first | {(o, s) for s, o in first})
