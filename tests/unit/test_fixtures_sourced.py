"""The sourced claims: labels are balanced, evidence exists and says what the label says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "sourced-claims"


def lines_of(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def split(name: str) -> list[dict[str, Any]]:
    return lines_of(f"splits/{name}.jsonl")


@pytest.fixture(scope="module")
def pages() -> dict[str, list[str]]:
    return {page["page"]: page["lines"] for page in lines_of("pages/pages.jsonl")}


@pytest.mark.parametrize(("name", "size"), [("test", 100), ("dev", 40)])
def test_labels_are_balanced_and_evidence_exists(name: str, size: int, pages: dict[str, list[str]]) -> None:
    lines = split(name)
    assert set(Counter(line["label"] for line in lines).values()) == {size}
    assert len({line["claim"] for line in lines}) == len(lines) == 3 * size
    shapes = Counter()
    for line in lines:
        if line["label"] == "NOT ENOUGH INFO":
            ((entry,),) = line["evidence"]
            assert entry[1:] == [None, None, None]
            continue
        shapes.update((len(line["evidence"]) > 1, len(chosen) > 1) for chosen in line["evidence"])
        for _, _, page, at in (entry for chosen in line["evidence"] for entry in chosen):
            assert 0 <= at < len(pages[page])
    assert min(shapes[several, long] for several in (True, False) for long in (True, False)) >= 5


def test_the_evidence_says_what_the_label_says(pages: dict[str, list[str]]) -> None:
    """A supported claim's names and numbers are all in its lines; of a refuted claim's words some are missing."""
    for line in split("test"):
        for chosen in line["evidence"] if line["label"] != "NOT ENOUGH INFO" else []:
            said = {
                w
                for _, _, page, at in chosen
                for w in re.findall(r"\w+", pages[page][at] + " " + page.replace("_", " "))
            }
            told = re.findall(r"\w+", line["claim"])
            if line["label"] == "SUPPORTS":
                assert {w for w in told[1:] if w[0].isupper() or w.isdigit()} <= said, line["claim"]
            else:
                assert set(told) - said, line["claim"]


def test_no_page_tells_what_a_claim_without_information_asks(pages: dict[str, list[str]]) -> None:
    text = " ".join(line for lines in pages.values() for line in lines)
    open_claims = [line["claim"] for line in split("test") if line["label"] == "NOT ENOUGH INFO"]
    assert not [claim for claim in open_claims if claim in text]
    wording = Counter(re.sub(r"[A-Z]\w*|\d+", "*", claim) for claim in open_claims)
    closed = {re.sub(r"[A-Z]\w*|\d+", "*", x["claim"]) for x in split("test") if x["label"] == "SUPPORTS"}
    assert sum(n for form, n in wording.items() if form in closed) >= 25  # not to be told by their wording
