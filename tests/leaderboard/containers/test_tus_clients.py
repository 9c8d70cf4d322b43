"""Independent clients of the tus protocol upload to a live server: tuspy, and tus-js-client in Node."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import leaderboard
from leaderboard.accounts.actions import tokens
from leaderboard.core import chunked_upload
from leaderboard.core.api import tus
from leaderboard.models import ImageUpload
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True)]
CHUNK = 50_000
SOURCES = Path(leaderboard.__file__).parent / "static_src"
NODE_CLIENT = """
import { createReadStream, statSync } from "node:fs";
import { Upload } from "tus-js-client";
const [file, endpoint, token, stopAt, uploadUrl] = process.argv.slice(2);
const upload = new Upload(createReadStream(file), {
  endpoint,
  uploadUrl: uploadUrl || null,
  chunkSize: 50000,
  uploadSize: statSync(file).size,
  uploadDataDuringCreation: true,
  headers: { Authorization: `Token ${token}` },
  metadata: { filename: "mine.tar", kind: "ïmage" },
  retryDelays: null,
  onChunkComplete: (_, offset) => {
    if (offset >= Number(stopAt)) { console.log(upload.url); process.exit(0); }
  },
  onSuccess: () => console.log(upload.url),
  onError: (error) => { console.error(String(error)); process.exit(1); },
});
upload.start();
"""


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = build()
    takes_images(world)
    engine_is_there()
    for module in (tus, chunked_upload):
        monkeypatch.setattr(module, "CHUNK_BYTES", CHUNK)
    return world


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tar"
    path.write_bytes(random.Random(1).randbytes(4 * CHUNK + 123))
    return path


def check_whole(archive: Path) -> ImageUpload:
    """Check that the only upload has all bytes of the archive; return it."""
    upload = ImageUpload.objects.get()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    with chunked_upload.whole(upload, name="i", what="archive") as (_, found):
        assert found == digest
    return upload


def address(live_server: Any) -> str:
    return f"{live_server.url}/api/v1/benchmarks/tiny/phases/test/image-uploads/"


def test_tuspy_sends_an_archive_and_resumes_it(world: World, live_server: Any, archive: Path) -> None:
    client = pytest.importorskip("tusclient.client")
    token = tokens.issue(by=world.researcher)[1]
    ours = client.TusClient(address(live_server), headers={"Authorization": f"Token {token}"})
    options = {"chunk_size": CHUNK, "upload_checksum": True, "metadata": {"filename": "mine.tar", "kind": "ïmage"}}
    uploader = ours.uploader(str(archive), **options)
    uploader.upload(stop_at=2 * CHUNK)
    assert ImageUpload.objects.get().received == 2 * CHUNK
    resumed = ours.uploader(str(archive), url=uploader.url, **options)
    assert resumed.offset == 2 * CHUNK
    resumed.upload()
    assert check_whole(archive).name == "mine.tar"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
def test_tus_js_client_sends_an_archive_and_resumes_it(
    world: World, live_server: Any, archive: Path, tmp_path: Path
) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, tmp_path)
    (tmp_path / "client.js").write_text(NODE_CLIENT)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit"], cwd=tmp_path, check=True, capture_output=True)
    token = tokens.issue(by=world.researcher)[1]

    def run(*more: str) -> str:
        words = ["node", "client.js", str(archive), address(live_server), token, *more]
        result = subprocess.run(words, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    url = run(str(2 * CHUNK))
    assert ImageUpload.objects.get().received == 2 * CHUNK
    assert run("1e9", url) == url
    check_whole(archive)
