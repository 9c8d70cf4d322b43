"""Scores of the models follow their definitions, and gradients agree with finite differences."""

import numpy as np
import pytest

from evaluator.reference_systems.graphs.models import ComplEx, DistMult, Queries, TransE, TransH
from evaluator.reference_systems.graphs.training import Batch, loss_and_gradients

MODELS = [ComplEx(3), DistMult(3), TransE(3), TransH(3)]
BATCH = Batch(np.array([0, 4, 2]), np.array([0, 0, 1, 2]), np.array([1, 3, 0, 4]))
"""Three queries about the entities 0, 4 and 2; the first has two answers."""
TAIL = np.array([True, False, True])


def vectors(model):
    rng = np.random.default_rng(3)
    return rng.standard_normal((5, model.entity_width)), rng.standard_normal((3, model.relation_width))


def score(model, subject, relation, object_) -> float:
    """The definition of each model's score of a triple."""
    if isinstance(model, ComplEx):
        s, r, o = (x[: model.dim] + 1j * x[model.dim :] for x in (subject, relation, object_))
        return (s * r * o.conj()).sum().real
    if isinstance(model, DistMult):
        return (subject * relation * object_).sum()
    if isinstance(model, TransE):
        return -np.linalg.norm(subject + relation - object_)
    translation, normal = relation[: model.dim], relation[model.dim :] / np.linalg.norm(relation[model.dim :])
    s, o = (x - (x @ normal) * normal for x in (subject, object_))
    return -np.linalg.norm(s + translation - o)


def ends(model, known, answer, tail):
    """Subject and object. A model with reciprocal relations asks for the subject as if it were the object."""
    return (known, answer) if tail or model.reciprocal else (answer, known)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_scores_follow_the_definition(model) -> None:
    entities, relations = vectors(model)
    scores = model.scores(Queries(entities[BATCH.known], relations, TAIL), entities)
    expected = [
        [
            score(
                model,
                *ends(model, entities[known], answer, tail)[:1],
                relation,
                ends(model, entities[known], answer, tail)[1],
            )
            for answer in entities
        ]
        for known, relation, tail in zip(BATCH.known, relations, TAIL, strict=True)
    ]
    assert np.allclose(scores, expected, atol=1e-4)  # the root of rounding errors where both points are one


@pytest.mark.parametrize("strength", [0.0, 0.3])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_gradients_agree_with_finite_differences(model, strength) -> None:
    def loss(entities, relations):
        return loss_and_gradients(model, entities, Queries(entities[BATCH.known], relations, TAIL), BATCH, strength)

    parts = vectors(model)
    _, *gradients = loss(*parts)
    step = 1e-6
    for part, gradient in zip(parts, gradients, strict=True):
        for index in np.ndindex(part.shape):
            value = part[index]
            part[index] = value + step
            above = loss(*parts)[0]
            part[index] = value - step
            below = loss(*parts)[0]
            part[index] = value
            assert gradient[index] == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_the_loss_is_cross_entropy_plus_n3() -> None:
    model = ComplEx(3)
    entities, relations = vectors(model)
    queries = Queries(entities[BATCH.known], relations, TAIL)
    scores = model.scores(queries, entities)
    log_probabilities = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    modulus = [np.abs(x[:, :3] + 1j * x[:, 3:]) for x in (entities, relations)]
    cubes = [
        (modulus[0][BATCH.known[row]] ** 3 + modulus[1][row] ** 3 + modulus[0][answer] ** 3).sum()
        for row, answer in zip(BATCH.rows, BATCH.answers, strict=True)
    ]
    expected = -log_probabilities[BATCH.rows, BATCH.answers].mean() + 0.3 * np.mean(cubes)
    assert loss_and_gradients(model, entities, queries, BATCH, 0.3)[0] == pytest.approx(expected)
