"""Executes docs/guide-curators.md sentence by sentence in a browser: from a raw file to a public board."""

from __future__ import annotations

import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from leaderboard.models import Standing, User
from tests.conftest import DATA, ROOT
from tests.docs.blocks import Block, blocks_of, indented_code
from tests.docs.sentences import Hands, NotUnderstood, Sentence, sentences_of
from tests.docs.shell import Shell, shell

pytest_plugins = ["tests.support.workers.running_stack"]
PAGE = ROOT / "docs" / "guide-curators.md"
SYMMETRIC, TRIPLES = "A symmetric set from published files", "Link prediction from triples"
SHELLS = {SYMMETRIC: "symmetric", TRIPLES: "triples"}
THERE_IN_THE_END = {
    SYMMETRIC: ("Symmetric claims", "Always the same"),
    TRIPLES: ("Links of a small graph", "What others ask"),
}


@pytest.fixture
def curator(transactional_db: None) -> User:
    """Create the reader's account, as an operator would."""
    return User.objects.create_user("maria", "maria@holdout.example", "three grey geese", is_curator=True)


@pytest.fixture
def page(live_server: Any, chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, accept_downloads=True)
    faults: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    yield page
    context.close()
    assert faults == []


def walk(section: str, page: Page, files: Path, stands_for: Mapping[str, str] | None = None) -> None:
    """Execute everything under a heading in order: sentences in the browser, commands in a shell in the files' folder.

    stands_for: numbers of the guide -> numbers for other files than the guide's.
    """
    commands = files / "bin"
    commands.mkdir()
    # The command that `pip install` would create.
    (commands / "holdout-eval").write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m evaluator "$@"\n'
    )
    (commands / "holdout-eval").chmod(0o755)
    hands = Hands(page, files)
    with shell(files, {}, PATH=f"{commands}:/usr/bin:/bin") as terminal:
        for step in steps_of(section):
            _do(step, hands, terminal, stands_for or {})


def steps_of(section: str) -> list[Sentence | Block]:
    blocks = [block for block in blocks_of(PAGE) if block.walk == SHELLS.get(section)]
    steps: list[Sentence | Block] = [*sentences_of(PAGE, section), *blocks]
    return sorted(steps, key=lambda step: int(step.location.rpartition(":")[2]))


def _do(step: Sentence | Block, hands: Hands, terminal: Shell, stands_for: Mapping[str, str]) -> None:
    if isinstance(step, Block):
        terminal.run(step)
        return
    text = step.text
    for number, replacement in stands_for.items():
        text = text.replace(number, replacement)
    hands.do(Sentence(step.location, text))


def test_every_step_has_a_known_form() -> None:
    for section in ("Log in", SYMMETRIC, TRIPLES):
        sentences = sentences_of(PAGE, section)
        assert sentences and all(Hands.understand(sentence) for sentence in sentences)
    assert {block.walk for block in blocks_of(PAGE)} == set(SHELLS.values())
    assert indented_code(PAGE) == []


def test_unknown_sentence_is_refused() -> None:
    with pytest.raises(NotUnderstood, match=r"guide.md:7: 'Have a look at \*\*Manage\*\*\.'"):
        Hands.understand(Sentence("guide.md:7", "Have a look at **Manage**."))


@pytest.mark.parametrize(
    ("files", "stands_for"),
    [
        pytest.param("own", {"239 groups, 956 lines": "120 groups, 480 lines"}, id="own"),
        pytest.param("published", {}, id="published", marks=pytest.mark.realdata),
    ],
)
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("stack", "curator")
def test_guide_from_raw_file_to_public_board(
    files: str, stands_for: dict[str, str], page: Page, tmp_path: Path
) -> None:
    """Execute both walks in order as one reader, who has a system and benchmarks when the second begins."""
    for sentence in sentences_of(PAGE, "Log in"):
        Hands(page, tmp_path).do(sentence)
    for section, (title, system) in THERE_IN_THE_END.items():
        folder = tmp_path / SHELLS[section]
        folder.mkdir()
        FILES[files, section](folder)
        walk(section, page, folder, stands_for)
        standing = Standing.objects.get(leaderboard__phase__benchmark__title=title)
        assert standing.system.name == system
    # Both boards are public.
    page.context.clear_cookies()
    for standing in Standing.objects.select_related("leaderboard__phase__benchmark", "system"):
        page.goto(standing.leaderboard.phase.get_absolute_url())
        assert standing.system.name in page.locator("main").inner_text()


def published_pairs(folder: Path) -> None:
    """Write the project's own symmetric claims in the published layout of FEVER Symmetric."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (ROOT / "fixtures" / "mirror-claims" / "splits" / "test.jsonl").read_text().splitlines():
        claim = json.loads(line)
        groups[claim["group"]].append(claim)
    with (folder / "fever_symmetric_full.jsonl").open("w") as out:
        for number, members in enumerate(groups.values(), 1000):
            members.sort(key=lambda claim: claim["slices"]["origin"] != "original")
            for member, claim in enumerate(members, 1):
                id_ = f"{number}" if member == 1 else f"{number}000000{member}"
                row = {"id": id_, "label": claim["label"], "claim": claim["claim"]}
                out.write(json.dumps({**row, "evidence_sentence": claim["evidence_text"]}) + "\n")


def triples_of_a_graph(folder: Path) -> None:
    """Write two hundred triples of the project's own graph for questions, and the others for training."""
    triples = (ROOT / "fixtures" / "graph-claims" / "graph" / "triples.tsv").read_text().splitlines(keepends=True)
    (folder / "test.txt").write_text("".join(triples[::50][:200]))
    (folder / "train.txt").write_text("".join(line for index, line in enumerate(triples) if index % 50))


def fever_symmetric(folder: Path) -> None:
    shutil.copy(DATA / "symmetric" / "source" / "fever_symmetric_full.jsonl", folder)


def codex(folder: Path) -> None:
    for name in ("test.txt", "train.txt"):
        shutil.copy(DATA / "codex-s" / name, folder)


FILES = {
    ("own", SYMMETRIC): published_pairs,
    ("own", TRIPLES): triples_of_a_graph,
    ("published", SYMMETRIC): fever_symmetric,
    ("published", TRIPLES): codex,
}
