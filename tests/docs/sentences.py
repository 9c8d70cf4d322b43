"""Executes a curator's guide: parses the numbered sentences of a section with a fixed grammar.

Bold text is on the page; code is typed or is a file's name. A sentence that has none of these forms fails:

    Open `/manage/`.                              Follow **Manage**.
    Press **Publish**.                            Under **Title** type `Small claims`.
    Under **Task** choose **Fact verification**.  Under **File** choose the file `claims.jsonl`.
    Under each **Your answer** type `Known.`.     Tick **Publish it**.            Under **Files** tick **one.txt**.
    The page says **Submitted**.                  Wait until the page says **done**.
    Wait until **Read the report** is there, and follow it.   Follow **inputs**, and keep it as `inputs.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SOON = 30_000
LONG = 240_000
"""Timeouts in milliseconds: for a page, and for a worker."""
BOLD, CODE = r"\*\*(.+?)\*\*", r"`([^`]+)`"
ITEM = re.compile(r"^\d+\. (.*(?:\n(?! *\n|\d+\. |#).*)*)", re.MULTILINE)
SENTENCE = re.compile(r"\s*((?:`[^`]*`|\*\*.+?\*\*|[^.])+\.?)")
"""Full stops within bold and code do not end a sentence."""


class NotUnderstood(ValueError):
    """A sentence of unknown form, with its location."""


@dataclass(frozen=True)
class Sentence:
    location: str
    text: str


def sentences_of(document: Path, section: str) -> list[Sentence]:
    """Return the sentences of the numbered steps under a heading, up to the next heading of its level or above."""
    content = document.read_text(encoding="utf-8")
    heading = re.search(rf"^(#+) {re.escape(section)}$", content, re.MULTILINE)
    if heading is None:
        raise NotUnderstood(f"{document.name} has no section {section!r}")
    level = len(heading[1])
    next_heading = re.compile(rf"^#{{1,{level}}} ", re.MULTILINE).search(content, heading.end())
    end = next_heading.start() if next_heading else len(content)
    sentences = []
    for item in ITEM.finditer(content, heading.end(), end):
        location = f"{document.name}:{content.count(chr(10), 0, item.start()) + 1}"
        text = " ".join(item[1].split())
        sentences += [Sentence(location, sentence) for sentence in SENTENCE.findall(text)]
    return sentences


@dataclass
class Hands:
    """Executes sentences on a page, with the folder of the reader's files."""

    page: Page
    files: Path

    @staticmethod
    def understand(sentence: Sentence) -> tuple[Callable[..., None], tuple[str, ...]]:
        """Return the action of a sentence, and its arguments. Raises NotUnderstood."""
        for pattern, act in FORMS.items():
            if match := re.fullmatch(pattern, sentence.text):
                return act, match.groups()
        raise NotUnderstood(f"{sentence.location}: {sentence.text!r} has none of the known forms")

    def do(self, sentence: Sentence) -> None:
        """Execute a sentence. Raises NotUnderstood; other errors get notes with the sentence and the page's text."""
        act, words = self.understand(sentence)
        try:
            act(self, *words)
        except Exception as error:
            error.add_note(f"{sentence.location}: {sentence.text}\nat {self.page.url}")
            error.add_note(self.page.locator("main").inner_text()[:3000])
            raise

    def field(self, label: str) -> Locator:
        """Return the field with this label, with or without a note such as `(optional)` after it."""
        return self.page.get_by_label(re.compile(rf"^{re.escape(label)}\s*(\(.*\))?$")).and_(
            self.page.locator("input, select, textarea")
        )

    def opens(self, address: str) -> None:
        self.page.goto(address)

    def follows(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click(timeout=SOON)

    def keeps(self, name: str, file: str) -> None:
        with self.page.expect_download(timeout=SOON) as download:
            self.follows(name)
        download.value.save_as(self.files / file)

    def presses(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).last.click(timeout=SOON)

    def types(self, label: str, text: str) -> None:
        self.field(label).first.fill(text, timeout=SOON)

    def types_in_each(self, label: str, text: str) -> None:
        fields = self.field(label)
        for index in range(fields.count()):
            fields.nth(index).fill(text, timeout=SOON)

    def chooses(self, label: str, option: str) -> None:
        self.field(label).first.select_option(label=option, timeout=SOON)

    def chooses_file(self, label: str, name: str) -> None:
        assert (self.files / name).is_file(), f"the reader has no file {name}"
        self.field(label).first.set_input_files(self.files / name, timeout=SOON)

    def ticks(self, label: str) -> None:
        self.field(label).first.check(timeout=SOON)

    def ticks_one_of(self, group: str, label: str) -> None:
        """Tick one of several boxes under a heading."""
        boxes = self.page.get_by_role("group", name=re.compile(rf"^{re.escape(group)}\b"))
        boxes.get_by_label(label, exact=True).check(timeout=SOON)

    def reads(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text, timeout=SOON)

    def waits(self, text: str) -> None:
        """Wait for a worker; the page updates by itself."""
        expect(self.page.locator("main")).to_contain_text(text, timeout=LONG)

    def waits_for(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click(timeout=LONG)


FORMS: dict[str, Callable[..., None]] = {
    rf"Open {CODE}\.": Hands.opens,
    rf"Follow {BOLD}\.": Hands.follows,
    rf"Follow {BOLD}, and keep it as {CODE}\.": Hands.keeps,
    rf"Press {BOLD}\.": Hands.presses,
    rf"Under {BOLD} type {CODE}\.": Hands.types,
    rf"Under each {BOLD} type {CODE}\.": Hands.types_in_each,
    rf"Under {BOLD} choose the file {CODE}\.": Hands.chooses_file,
    rf"Under {BOLD} choose {BOLD}\.": Hands.chooses,
    rf"Tick {BOLD}\.": Hands.ticks,
    rf"Under {BOLD} tick {BOLD}\.": Hands.ticks_one_of,
    rf"The page says {BOLD}\.": Hands.reads,
    rf"Wait until the page says {BOLD}\.": Hands.waits,
    rf"Wait until {BOLD} is there, and follow it\.": Hands.waits_for,
}
