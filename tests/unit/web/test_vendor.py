"""What was vendored is what its manifest says, and each package brings its licence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import leaderboard

VENDOR = Path(leaderboard.__file__).parent / "static" / "vendor"


def listed() -> dict[str, str]:
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def test_every_vendored_file_is_listed_with_its_digest():
    files = {
        str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert files == listed()


def test_every_package_has_its_licence_and_is_named_in_the_readme():
    readme = (VENDOR / "README.md").read_text()
    folders = [path for path in VENDOR.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert (folder / "LICENSE").stat().st_size > 200
        assert f"`{folder.name}/`" in readme
