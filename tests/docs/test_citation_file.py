"""CITATION.cff, which GitHub and reference managers read, is about this version of the project."""

from __future__ import annotations

import yaml

from evaluator import __version__
from tests.conftest import ROOT


def test_the_citation_names_this_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert (citation["version"], citation["license"]) == (__version__, "Apache-2.0")
