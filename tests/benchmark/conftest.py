"""Separate processes for measurements, like those of the sandbox: one BLAS thread, no memory in use, no garbage
collection, which jobs switch off."""

import gc
import multiprocessing

import pytest

from evaluator.sandbox.process.launch import environment


@pytest.fixture
def in_new_process(monkeypatch):
    """Return a callable that runs a module's function, with its arguments, in a new process."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)

    def call(function, *arguments):
        with multiprocessing.get_context("spawn").Pool(1, initializer=gc.disable) as pool:
            return pool.apply(function, arguments)

    return call
