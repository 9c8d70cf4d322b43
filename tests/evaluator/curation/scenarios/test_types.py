"""The type test: an entity must share all types of the reference, or at least four."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.scenarios.functionality import functionality
from evaluator.curation.scenarios.types import Types
from tests.evaluator.curation.graph import graph_oracle

named = st.dictionaries(st.sampled_from("abcde"), st.sets(st.sampled_from("ABCDEFG")))


@given(named)
@settings(deadline=None)
def test_every_pair_of_entities(types):
    names = list("abcde")
    test = Types(names, types)
    for i, name in enumerate(names):
        expected = [graph_oracle.passes(types, name, other) for other in names]
        assert test.pass_for(i, np.arange(5)).tolist() == expected
        same = [set(types.get(name, ())) == set(types.get(other, ())) for other in names]
        assert test.same(i, np.arange(5)).tolist() == same


@pytest.mark.parametrize(("shared", "passes"), [("ABCD", True), ("ABC", False), ("ABCDE", True)])
def test_four_shared_types_are_enough(shared, passes):
    test = Types(["x", "y"], {"x": set("ABCDE"), "y": set(shared)})
    assert test.pass_for(0, np.array([1])).tolist() == [passes]


def test_functionality():
    pairs = [("a", "x"), ("b", "x"), ("b", "y"), ("b", "y")]
    assert functionality(pairs) == {"pairs": 3, "subjects_per_pair": 2 / 3, "objects_per_pair": 2 / 3}
    assert functionality([])["subjects_per_pair"] is None
