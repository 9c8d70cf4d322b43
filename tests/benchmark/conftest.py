"""A process of its own for each measurement, as the sandbox would start it: one BLAS thread, nothing held yet."""

import multiprocessing

import pytest

from evaluator.sandbox.process.launch import environment


@pytest.fixture
def apart(monkeypatch):
    """Calls a function of a module, with its arguments, in a process of its own."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)

    def call(function, *arguments):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(function, arguments)

    return call
