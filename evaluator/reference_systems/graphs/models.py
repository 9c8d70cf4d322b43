"""Embedding models of knowledge graphs: ComplEx, DistMult, TransE and TransH, with the gradients of their scores.

A query is a known entity, a relation and the side that is asked for; a model scores every candidate as its answer.
Arrays have one row per query or candidate, and keep their type: float32 in training, float64 in tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]
_TINY = 1e-9
"""Added to squared distances, since the gradient of the root has no value at zero."""


class Queries(NamedTuple):
    """Queries, given by vectors: one row per query.

    known, relation: the vectors of each query's known entity and of its relation. tail: True where the object is asked
    for, False where the subject is.
    """

    known: Floats
    relation: Floats
    tail: Bools


class Gradients(NamedTuple):
    """Derivatives of a loss with respect to the vectors of queries and candidates."""

    known: Floats
    relation: Floats
    candidates: Floats


class Model(ABC):
    """A function that scores candidate entities as answers to queries, from the vectors of both.

    dim: the number of dimensions; in ComplEx each is a complex number. reciprocal: True if a relation has a second
    vector for questions about the subject (Lacroix et al. 2018).
    """

    reciprocal: ClassVar[bool]

    def __init__(self, dim: int) -> None:
        self.dim = dim

    @property
    def entity_width(self) -> int:
        """Length of an entity's vector."""
        return self.dim

    @property
    def relation_width(self) -> int:
        """Length of a relation's vector."""
        return self.dim

    @abstractmethod
    def scores(self, queries: Queries, candidates: Floats) -> Floats:
        """Return each candidate's score as the answer to each query: shape (queries, candidates)."""

    @abstractmethod
    def gradients(self, queries: Queries, candidates: Floats, scores: Floats, upstream: Floats) -> Gradients:
        """Return the derivatives of a loss with respect to the vectors of queries and candidates.

        scores: the result of `scores`. upstream: the loss's derivatives with respect to the scores, in the same shape.
        """

    @abstractmethod
    def moduli(self, vectors: Floats) -> Floats:
        """Return the absolute value of each number of the vectors, which are real or complex.

        N3 regularization sums the cubes of these values.
        """


class _Bilinear(Model):
    """A model whose score is the product of a query's vector and a candidate's."""

    reciprocal = True

    @abstractmethod
    def _product(self, known: Floats, relation: Floats) -> Floats: ...

    @abstractmethod
    def _product_gradients(self, known: Floats, relation: Floats, upstream: Floats) -> tuple[Floats, Floats]: ...

    def scores(self, queries: Queries, candidates: Floats) -> Floats:
        return self._product(queries.known, queries.relation) @ candidates.T

    def gradients(self, queries: Queries, candidates: Floats, scores: Floats, upstream: Floats) -> Gradients:
        product = self._product(queries.known, queries.relation)
        known, relation = self._product_gradients(queries.known, queries.relation, upstream @ candidates)
        return Gradients(known, relation, upstream.T @ product)


class DistMult(_Bilinear):
    """Model whose score is the sum over dimensions of subject times relation times object (Yang et al. 2015)."""

    def _product(self, known: Floats, relation: Floats) -> Floats:
        return known * relation

    def _product_gradients(self, known: Floats, relation: Floats, upstream: Floats) -> tuple[Floats, Floats]:
        return upstream * relation, upstream * known

    def moduli(self, vectors: Floats) -> Floats:
        return np.abs(vectors)


class ComplEx(_Bilinear):
    """Model whose score is the real part of the product of subject, relation and the object's conjugate, summed up.

    A vector has all real parts first, then all imaginary parts. Source: Trouillon et al. 2016.
    """

    @property
    def entity_width(self) -> int:
        return 2 * self.dim

    @property
    def relation_width(self) -> int:
        return 2 * self.dim

    def _product(self, known: Floats, relation: Floats) -> Floats:
        (a, b), (c, d) = self._parts(known), self._parts(relation)
        return np.concatenate([a * c - b * d, a * d + b * c], axis=1)

    def _product_gradients(self, known: Floats, relation: Floats, upstream: Floats) -> tuple[Floats, Floats]:
        (a, b), (c, d), (u, v) = self._parts(known), self._parts(relation), self._parts(upstream)
        by_known = np.concatenate([u * c + v * d, v * c - u * d], axis=1)
        by_relation = np.concatenate([u * a + v * b, v * a - u * b], axis=1)
        return by_known, by_relation

    def moduli(self, vectors: Floats) -> Floats:
        real, imaginary = self._parts(vectors)
        modulus = np.sqrt(real * real + imaginary * imaginary)
        return np.concatenate([modulus, modulus], axis=1)

    def _parts(self, vectors: Floats) -> tuple[Floats, Floats]:
        return vectors[:, : self.dim], vectors[:, self.dim :]


class TransE(Model):
    """Model whose score is minus the distance between subject plus relation and object (Bordes et al. 2013)."""

    reciprocal = False

    def scores(self, queries: Queries, candidates: Floats) -> Floats:
        point = queries.known + _signed(queries.relation, queries.tail)
        return -np.sqrt(np.maximum(_squared_distances(point, candidates), 0) + _TINY)

    def gradients(self, queries: Queries, candidates: Floats, scores: Floats, upstream: Floats) -> Gradients:
        point = queries.known + _signed(queries.relation, queries.tail)
        squared = upstream / (2 * scores)  # by the squared distances
        by_point = 2 * (point * squared.sum(axis=1, keepdims=True) - squared @ candidates)
        by_candidates = 2 * (candidates * squared.sum(axis=0)[:, None] - squared.T @ point)
        return Gradients(by_point, _signed(by_point, queries.tail), by_candidates)

    def moduli(self, vectors: Floats) -> Floats:
        return np.abs(vectors)


class TransH(Model):
    """TransE with entities projected onto a hyperplane of the relation (Wang et al. 2014).

    A relation's vector is its translation, then the normal of its hyperplane, which is scaled to length 1 where it is
    used. The translation may point away from the hyperplane; Wang et al. add a penalty for that.
    """

    reciprocal = False

    @property
    def relation_width(self) -> int:
        return 2 * self.dim

    def scores(self, queries: Queries, candidates: Floats) -> Floats:
        _, normal, _, point = self._geometry(queries)
        along = normal @ candidates.T
        squared = _squared_distances(point, candidates)
        squared += along * (2 * _dots(point, normal)[:, None] - along)
        return -np.sqrt(np.maximum(squared, 0) + _TINY)

    def gradients(self, queries: Queries, candidates: Floats, scores: Floats, upstream: Floats) -> Gradients:
        length, normal, height, point = self._geometry(queries)
        along = normal @ candidates.T
        point_along = _dots(point, normal)[:, None]
        squared = upstream / (2 * scores)
        weighted = squared * along
        weight = weighted.sum(axis=1, keepdims=True)
        of_candidates = squared @ candidates
        by_point = 2 * (point * squared.sum(axis=1, keepdims=True) - of_candidates + normal * weight)
        by_candidates = 2 * (candidates * squared.sum(axis=0)[:, None] - squared.T @ point)
        by_candidates += 2 * (squared * (point_along - along)).T @ normal
        by_normal = 2 * (point * weight + point_along * of_candidates - weighted @ candidates)
        # The point is known - (normal . known) normal + translation.
        across = _dots(normal, by_point)[:, None]
        by_known = by_point - across * normal
        by_normal -= height * by_point + across * queries.known
        by_normal = (by_normal - normal * _dots(normal, by_normal)[:, None]) / length
        by_relation = np.concatenate([_signed(by_point, queries.tail), by_normal], axis=1)
        return Gradients(by_known, by_relation, by_candidates)

    def moduli(self, vectors: Floats) -> Floats:
        return np.abs(vectors)

    def _geometry(self, queries: Queries) -> tuple[Floats, Floats, Floats, Floats]:
        """Return (length of the normal, unit normal, distance of the known entity from the hyperplane, target point).

        The score of a candidate is computed from the distance of its projection from the target point.
        """
        normal = queries.relation[:, self.dim :]
        length = np.sqrt(_dots(normal, normal) + _TINY)[:, None]
        unit = normal / length
        height = _dots(unit, queries.known)[:, None]
        point = queries.known - height * unit + _signed(queries.relation[:, : self.dim], queries.tail)
        return length, unit, height, point


def _signed(vectors: Floats, tail: Bools) -> Floats:
    """Return the vectors of relations, negated for queries that ask for the subject.

    tail: for each query, True if it asks for the object, whose relation is not negated.
    """
    return np.where(tail[:, None], vectors, -vectors)


def _dots(left: Floats, right: Floats) -> Floats:
    products: Floats = np.einsum("ij,ij->i", left, right)
    return products


def _squared_distances(points: Floats, candidates: Floats) -> Floats:
    """Return |p|^2 - 2 p.c + |c|^2 for each point and candidate; rounding may make it slightly negative."""
    distances = points @ candidates.T
    distances *= -2
    distances += _dots(points, points)[:, None]
    distances += _dots(candidates, candidates)
    return distances
