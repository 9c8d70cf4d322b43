"""Licences: SPDX expressions are checked, normalised, and shown by name; other texts stay as they are."""

from __future__ import annotations

import pytest

from leaderboard.core import spdx
from leaderboard.templatetags.licences import licence


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("CC0-1.0", "CC0-1.0"),
        (" cc-by-sa-3.0 ", "CC-BY-SA-3.0"),
        ("mit or apache-2.0", "MIT OR Apache-2.0"),
        ("GPL-2.0+", "GPL-2.0-or-later"),
        ("GPL-2.0-or-later WITH Classpath-exception-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0"),
        ("(MIT AND CC-BY-4.0) OR LicenseRef-Own", "(MIT AND CC-BY-4.0) OR LicenseRef-Own"),
    ],
)
def test_expressions(text: str, normal: str) -> None:
    assert spdx.normal(text) == normal
    assert spdx.problem(text) == ""


@pytest.mark.parametrize(
    "text",
    # "GPL" is another name of a licence for some programs, but no SPDX identifier.
    [
        "GPL",
        "CC BY 4.0",
        "MIT OR",
        "MIT MIT",
        "((((MIT",
        "MIT/X",
        "foo",
        "LicenseRef-",
        "<b>",
        "http://x.example",
        "a" * 300,
    ],
)
def test_other_texts(text: str) -> None:
    assert spdx.normal(text) is None
    assert "expected one such as CC-BY-4.0" in spdx.problem(text)
    assert spdx.parts(text) == [spdx.Part(text)]


def test_licences_are_shown_by_name() -> None:
    mit = '<a href="https://spdx.org/licenses/MIT.html" rel="license noopener">MIT License</a>'
    assert licence("MIT") == mit
    assert licence("(MIT AND LicenseRef-Own) OR mit") == f"({mit} AND LicenseRef-Own) OR {mit}"
    assert licence("<b> of ours") == "&lt;b&gt; of ours"
    assert licence("https://x.example/licence") == (
        '<a href="https://x.example/licence" rel="license noopener">https://x.example/licence</a>'
    )


def test_addresses() -> None:
    assert spdx.address_or_text("CC0-1.0") == "https://spdx.org/licenses/CC0-1.0.html"
    assert [spdx.address_or_text(text) for text in ("MIT OR CC0-1.0", "ours", "")] == ["MIT OR CC0-1.0", "ours", ""]
