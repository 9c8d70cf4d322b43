"""Compares the published data of two commits for the same demonstrations, byte by byte.

    .venv/bin/python tests/upgrade/compare_commits.py OLD NEW

It compares boards, exports, receipts and scores. Each commit is checked out into a temporary git worktree and seeded
there by its own code, with its own sandbox and worker, on SQLite, with the demonstrations of OLD
(tests/upgrade/site_history.py creates and reads the data). Both use this interpreter and its packages; pip installs
those that a commit requires and the interpreter lacks. The exit status is 1 if a document differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from itertools import zip_longest
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
HISTORY = Path(__file__).with_name("site_history.py")
Documents = dict[str, str]

GOLD_DIGEST = r',\s*"gold_sha256": ?"[0-9a-f]{64}"'
NORMALIZED: tuple[tuple[str, str, str], ...] = (
    ("ids of submissions are random", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
    ("an error response names its request", r'("instance": ?"[^"#]*#)[0-9a-f]{32}"', r'\1REQUEST"'),
    ("the seedings are minutes apart", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?", "TIME"),
    ("a receipt names how long the scoring took", r'"(sandbox_start_)?seconds": ?[\d.e-]+', '"seconds": DURATION'),
    ("a receipt names the digest of the code", r'"code_sha256": ?"[0-9a-f]{64}"', '"code_sha256": "CODE"'),
    ("only managers see the digest of hidden gold", GOLD_DIGEST, ""),
    ("a citation names the digest of a board with its ids and times", r"SHA-256 [0-9a-f]{64}", "SHA-256 BOARD"),
)
"""(reason why the text always differs, pattern, replacement). Everything else is compared unchanged."""

LADDER_TABLE = re.compile(r"/ladder/leaderboard\.(csv|tex|md)")
"""Tables of a ladder's board: their scores have bounds since they are shown as what they are, "at least"."""

WORDS = re.compile(
    r'("(?:message|summary)": ?|"(?:as_of|columns|kind|page|slices?|sort|track)": ?\[)"(?:\\.|[^"\\])*"',
)
"""Sentences for people in error responses and in the descriptions of tasks: they may change, codes and numbers not."""


def normalized(text: str) -> str:
    for _, pattern, name in NORMALIZED:
        text = re.sub(pattern, name, text)
    return text


def projected(after: str, before: str) -> str:
    """Return a response with JSON without the fields that `before` lacks; any other response as it is.

    A response is its status and content type on the first line, then its body.
    """
    try:
        value, former = (json.loads(text.partition("\n")[2]) for text in (after, before))
    except ValueError:
        return after
    head = after.partition("\n")[0].replace("application/problem+json", "application/json")
    return f"{head}\n{json.dumps(_pruned(value, former), ensure_ascii=False, separators=(',', ':'))}"


def _pruned(value: Any, former: Any) -> Any:
    if isinstance(value, list) and isinstance(former, list):
        return [_pruned(*pair) for pair in zip(value, former, strict=False)] + value[len(former) :]
    if isinstance(value, dict) and isinstance(former, dict):
        pruned = {name: _pruned(value[name], item) for name, item in former.items() if name in value}
        # Submissions that are never scored had no date.
        return pruned | ({"finished_at": None} if former.get("finished_at", "") is None else {})
    return value


@dataclass(frozen=True)
class Site:
    """The code of a commit with a data folder."""

    tree: Path
    data: Path
    database_url: str = ""

    def start(self, *command: str | Path) -> subprocess.Popen[str]:
        """Start a process of the site; its output is appended to a log next to the data folder."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
        ours = {"DATA": str(self.data), "DATABASE_URL": self.database_url, "BASE_URL": "http://localhost"}
        # E-mails and containers are not compared.
        ours |= {"NOTIFICATIONS": "off", "SYSTEMS": "off", "LOG_LEVEL": "WARNING"}
        with self.log.open("a") as log:
            return subprocess.Popen(
                [sys.executable, *map(str, command)],
                cwd=self.tree,
                env={**inherited, **{f"HOLDOUT_{name}": value for name, value in ours.items()}},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
            )

    @property
    def log(self) -> Path:
        return self.data.with_suffix(".log")

    def run(self, *command: str | Path) -> None:
        with self.start(*command) as process:
            pass
        if process.returncode:
            raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{self.tail()}")

    def tail(self) -> str:
        return self.log.read_text()[-4000:]

    def fill(self, fixtures: Path) -> None:
        """Create the history while the whole site runs."""
        with self.serving():
            self.run(HISTORY, "fill", fixtures)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Start the whole site without the demonstration, and stop it."""
        served = self.start("manage.py", "serve", "--port", "0", "--no-seed")
        try:
            while "holdout: ready" not in self.log.read_text():
                if served.poll() is not None:
                    raise SystemExit(f"the site did not start:\n{self.tail()}")
                time.sleep(0.5)
            yield
        finally:
            served.terminate()
            served.wait(60)

    def dump(self) -> Documents:
        file = self.data.with_suffix(".json")
        self.run(HISTORY, "dump", file)
        documents: Documents = json.loads(file.read_text())
        texts = {name: re.sub(GOLD_DIGEST, "", text) for name, text in documents.items()}
        return {name: WORDS.sub(r'\1"TEXT"', text) for name, text in texts.items()}


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check out a commit as a temporary git worktree; yield its path."""
    with tempfile.TemporaryDirectory(prefix="holdout-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
        try:
            install_dropped(tree)
            yield tree
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def install_dropped(tree: Path) -> None:
    """Install into a commit's tree the packages that it requires and this interpreter has not."""
    present = {canonicalize_name(package.metadata["Name"]) for package in distributions()}
    lines = [line.partition("#")[0].strip() for line in (tree / "requirements.txt").read_text().splitlines()]
    absent = [line for line in lines if line and canonicalize_name(re.split(r"[\[=<>~ ]", line)[0]) not in present]
    if absent:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--target", tree, *absent], check=True)


def differences(before: Documents, after: Documents) -> list[str]:
    """Return a text per document that differs or is missing on one side: its name and the first differing values.

    Fields that only `after` has do not count, since later commits return more.
    """
    texts = []
    for name in sorted(before.keys() | after.keys()):
        if LADDER_TABLE.search(name):
            continue
        former = projected(*[before.get(name, "no such document")] * 2)
        sides = [
            re.split(r"(?<=[,{])|\n", text) for text in (former, projected(after.get(name, "no such document"), former))
        ]
        changed = [f"  {a}  became  {b}" for a, b in zip_longest(*sides, fillvalue="nothing") if a != b]
        if changed:
            texts.append("\n".join([f"{name}: {len(changed)} differences", *changed[:5]]))
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", help="a commit")
    parser.add_argument("new", metavar="NEW", help="another one")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave both dumps there, as old.json and new.json")
    args = parser.parse_args()
    dumps = []
    with tempfile.TemporaryDirectory(prefix="holdout-") as folder:
        fixtures = Path(folder) / "fixtures"
        for name, commit in (("old", args.old), ("new", args.new)):
            with checkout(commit) as tree:
                if not dumps:
                    shutil.copytree(tree / "fixtures", fixtures)
                (data := Path(folder) / name).mkdir()
                site = Site(tree, data)
                site.fill(fixtures)
                documents = {normalized(key): normalized(text) for key, text in site.dump().items()}
                dumps.append(documents)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(site.data.with_suffix(".json"), args.keep)
            print(
                f"{name} {commit}: {len(documents)} documents, {sum(len(t.encode()) for t in documents.values())} bytes"
            )
    different = differences(*dumps)
    print(*different, f"{len(different)} of {len(dumps[0].keys() | dumps[1].keys())} documents differ", sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
