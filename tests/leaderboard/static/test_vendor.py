"""What was vendored is what its manifest says, and each package brings its licence."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.files.storage import FileSystemStorage

import leaderboard

VENDOR = Path(leaderboard.__file__).parent / "static" / "vendor"

STATIC = VENDOR.parent


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


def test_every_address_in_a_stylesheet_leads_to_a_file(tmp_path):
    """What collectstatic does in production, with our own files: a missing one stops it."""
    storage = ManifestStaticFilesStorage(location=tmp_path, base_url="/static/")
    source = FileSystemStorage(location=STATIC)
    paths = {str(path.relative_to(STATIC)): path for path in STATIC.rglob("*") if path.is_file()}
    for name in paths:
        storage.save(name, source.open(name))
    results = list(storage.post_process({name: (storage, name) for name in paths}))
    assert not [outcome for *_, outcome in results if isinstance(outcome, Exception)]
    assert "source-sans-3-latin-wght-normal." in (tmp_path / storage.stored_name("css/holdout.css")).read_text()
