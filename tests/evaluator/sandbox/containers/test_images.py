"""Valid image archives, and archives with one error each."""

from __future__ import annotations

import dataclasses
import io
import json
import lzma
import os
import re
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox.containers import image_errors
from evaluator.sandbox.containers.image_errors import ImageError
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits, read_image
from tests.evaluator.sandbox.containers.archives import Image, layer, member, packed, stored, tarred, zeros
from tests.support.hostile_images import REFUSED_BY_ENGINE, REFUSED_WHEN_READ, RUN_BY_ENGINE

SMALL = ImageLimits(unpacked_bytes=1 << 20, members=600, layer_members=1000, config_bytes=50_000)


def read(folder: Path, content: bytes, limits: ImageLimits | None = None) -> ImageArchive:
    descriptor = os.open(stored(folder, content), os.O_RDONLY)
    try:
        return read_image(os.dup(descriptor), limits, scratch=folder)
    finally:
        os.close(descriptor)


def read_error(folder: Path, content: bytes, limits: ImageLimits | None = None) -> ImageError:
    with pytest.raises(ImageError) as caught:
        read(folder, content, limits)
    assert str(caught.value)
    assert str(folder) not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("layout", ["legacy", "oci"])
@pytest.mark.parametrize("pack", [bytes, packed], ids=["plain", "packed-layers"])
@pytest.mark.parametrize("around", [bytes, packed], ids=["plain", "packed"])
def test_a_valid_archive_is_read_and_written_clean(tmp_path: Path, layout: str, pack: Any, around: Any) -> None:
    image = Image(pack=pack, tags=["python:3.11", "postgres:latest"])
    archive_read = read(tmp_path, around(getattr(image, layout)()))
    assert archive_read.id == image.id()
    assert archive_read.size == sum(map(len, image.layers))
    with tarfile.open(fileobj=io.BytesIO(b"".join(archive_read.clean()))) as archive:
        files = {info.name: archive.extractfile(info).read() for info in archive if info.isfile()}  # type: ignore[union-attr]
        assert len(archive.getmembers()) == len(files)
    manifest = json.loads(files.pop("manifest.json"))
    assert len(manifest) == 1 and manifest[0]["RepoTags"] is None
    assert files.pop(manifest[0]["Config"]) == image.config_bytes()
    assert [files[name] for name in manifest[0]["Layers"]] == image.layers
    assert set(files) == set(manifest[0]["Layers"])


def test_a_cleaned_archive_is_valid(tmp_path: Path) -> None:
    image = Image()
    once = read(tmp_path, image.legacy())
    assert read(tmp_path, b"".join(once.clean())).id == image.id()


def test_two_equal_layers_are_written_once(tmp_path: Path) -> None:
    """Engines up to version 24 write the second as a link to the first; later ones name one blob twice."""
    same = layer(3)
    image = Image(layers=[same, same])
    assert read(tmp_path, image.oci()).diff_ids[0] == read(tmp_path, image.oci()).diff_ids[1]
    first, second = "a" * 64, "b" * 64
    config = member("c.json", image.config_bytes())
    link = member(f"{second}/layer.tar", type=tarfile.SYMTYPE, linkname=f"../{first}/layer.tar")
    entry = {"Config": "c.json", "Layers": [f"{first}/layer.tar", f"{second}/layer.tar"]}
    manifest = member("manifest.json", json.dumps([entry]).encode())
    archive_read = read(tmp_path, tarred([config, member(f"{first}/layer.tar", same), link, manifest]))
    assert archive_read.id == image.id()
    assert sum(len(piece) for piece in archive_read.clean()) < 3 * len(same)


def test_a_change_between_reading_and_loading_is_detected(tmp_path: Path) -> None:
    path = stored(tmp_path, Image(layers=[layer(1000)]).legacy())
    descriptor = os.open(path, os.O_RDONLY)
    archive_read = read_image(descriptor)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"contentcontent", b"contentCONTENT", 1))
    with pytest.raises(image_errors.LayerDigestError):
        list(archive_read.clean())
    os.close(descriptor)


TWO = [{"Config": "x", "Layers": []}, {"Config": "y", "Layers": []}]
LINK_INSIDE, LINK_OUTSIDE = (
    {"type": tarfile.SYMTYPE, "linkname": "manifest.json"},
    {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
)
INVALID: dict[str, tuple[Image, type[ImageError], str]] = {
    "two images": (Image(entries=TWO), image_errors.SeveralImagesError, "lists 2 images"),
    "no image": (Image(entries=[]), image_errors.SeveralImagesError, "lists 0 images"),
    "no manifest": (Image(without="manifest.json"), image_errors.ImageArchiveError, "no file"),
    "a manifest without layers": (Image(entries=[{"Config": "x"}]), image_errors.ImageArchiveError, "does not name"),
    "a manifest with a path": (
        Image(entries=[{"Config": "../../etc/passwd", "Layers": []}]),
        image_errors.ImageArchiveError,
        "no file",
    ),
    "dot dot": (
        Image(more=[member("../evil", b"x")]),
        image_errors.UnsafeMemberError,
        "expected relative paths without ..",
    ),
    "dot dot inside": (
        Image(more=[member("a/../../evil", b"x")]),
        image_errors.UnsafeMemberError,
        "expected relative paths without ..",
    ),
    "absolute": (
        Image(more=[member("/etc/evil", b"x")]),
        image_errors.UnsafeMemberError,
        "expected relative paths without ..",
    ),
    "backslash": (
        Image(more=[member("..\\evil", b"x")]),
        image_errors.UnsafeMemberError,
        "expected relative paths without ..",
    ),
    "symlink": (Image(more=[member("link", **LINK_OUTSIDE)]), image_errors.UnsafeMemberError, "a symlink"),
    "symlink inside": (Image(more=[member("link", **LINK_INSIDE)]), image_errors.UnsafeMemberError, "a symlink"),
    "hard link": (
        Image(more=[member("link", type=tarfile.LNKTYPE, linkname="manifest.json")]),
        image_errors.UnsafeMemberError,
        "a hard link",
    ),
    "character device": (Image(more=[member("d", type=tarfile.CHRTYPE)]), image_errors.UnsafeMemberError, "device"),
    "block device": (Image(more=[member("d", type=tarfile.BLKTYPE)]), image_errors.UnsafeMemberError, "device"),
    "FIFO": (Image(more=[member("f", type=tarfile.FIFOTYPE)]), image_errors.UnsafeMemberError, "a FIFO"),
    "twice": (Image(more=[member("manifest.json", b"[]")]), image_errors.DuplicateMemberError, "twice"),
    "twice by another name": (
        Image(more=[member("./manifest.json", b"[]")]),
        image_errors.DuplicateMemberError,
        "twice",
    ),
    "many members": (
        Image(more=[member(f"m{number}") for number in range(700)]),
        image_errors.TooLargeError,
        "over 600 members",
    ),
    "layer claim": (
        Image(layers=[layer(1)], diff_ids=["sha256:" + "0" * 64]),
        image_errors.LayerDigestError,
        "as in the image's config",
    ),
    "another count of layers": (
        Image(layers=[layer(1)], diff_ids=["sha256:" + "0" * 64] * 2),
        image_errors.LayerCountError,
        "lists 1 layers, but the image's config lists 2",
    ),
    "130 layers": (Image(layers=[layer(1)] * 130), image_errors.LayerCountError, "130 layers, expected 1 to 125"),
    "no layers": (Image(layers=[]), image_errors.LayerCountError, "0 layers"),
    "wrong architecture": (Image(top={"architecture": "s390x"}), image_errors.PlatformError, "s390x"),
    "no architecture": (Image(top={"architecture": None}), image_errors.PlatformError, "expected linux on"),
    "windows": (Image(top={"os": "windows"}), image_errors.PlatformError, "windows"),
    "volume": (Image(settings={"Cmd": ["x"], "Volumes": {"/data": {}}}), image_errors.VolumeError, "/data"),
    "volume in another case": (
        Image(settings={"Cmd": ["x"], "vOLUME\u017f": {"/data": {}}}),
        image_errors.VolumeError,
        "/data",
    ),
    "config in two cases": (
        Image(top={"Config": {"Volumes": {"/data": {}}}}),
        image_errors.ConfigError,
        "has a duplicate key",
    ),
    "no command": (Image(settings={}), image_errors.ConfigError, "no command"),
    "command of numbers": (
        Image(settings={"Cmd": [1]}),
        image_errors.ConfigError,
        "Expected `str`, got `int` - at `$.cmd",
    ),
    "workdir on a descriptor": (
        Image(settings={"Cmd": ["x"], "WorkingDir": "/proc/self/fd/7"}),
        image_errors.ConfigError,
        "WORKDIR",
    ),
    "workdir around": (
        Image(settings={"Cmd": ["x"], "WorkingDir": "/tmp/../proc/self/fd/7"}),
        image_errors.ConfigError,
        "WORKDIR",
    ),
    "workdir with two slashes": (
        Image(settings={"Cmd": ["x"], "WorkingDir": "//proc/self/fd/7"}),
        image_errors.ConfigError,
        "WORKDIR",
    ),
    "config no JSON": (Image(config=b"{"), image_errors.ConfigError, "not valid JSON"),
    "config too deep": (Image(config=b"[" * 9_000), image_errors.ConfigError, "not valid JSON"),
    "config with NaN": (Image(config=b'{"a": NaN}'), image_errors.ConfigError, "the number NaN, which JSON"),
    "config not UTF-8": (Image(config=b'{"a": "\xff"}'), image_errors.ConfigError, "not valid JSON"),
    "config a list": (Image(config=b"[]"), image_errors.ConfigError, "expected a JSON object"),
    "config too large": (Image(config=b" " * 50_001), image_errors.TooLargeError, "50001 bytes"),
    "layer no tar": (Image(layers=[b"x" * 2000]), image_errors.LayerContentError, "not a tar"),
    "layer cut": (Image(layers=[layer(1)[:700]]), image_errors.LayerContentError, "not a tar"),
    "layer with more after its end": (
        Image(layers=[layer(1) + layer(2)]),
        image_errors.LayerContentError,
        "byte 10240, after the end marker, is 0x66, expected zeros",
    ),
    "layer with dot dot": (
        Image(layers=[tarred([member("../../evil", b"x")])]),
        image_errors.LayerContentError,
        "expected a path without ..",
    ),
    "layer of a million files": (
        Image(layers=[tarred(member(f"f{number}") for number in range(1001))]),
        image_errors.TooLargeError,
        "layer 1 of 1 brings the image to 1001 files or more, expected at most 1000 in all layers",
    ),
    "layer too large": (
        Image(layers=[tarred([member("f", bytes(2 << 20))])]),
        image_errors.TooLargeError,
        "bytes or more, expected at most 1048576",
    ),
    "layer packed with xz": (Image(pack=lzma.compress), image_errors.LayerContentError, "xz"),
    "layer packed twice": (
        Image(pack=lambda content: packed(packed(content))),
        image_errors.LayerContentError,
        "not a tar",
    ),
    "layer packed and damaged": (
        Image(pack=lambda content: packed(content)[:-20] + bytes(20)),
        image_errors.LayerContentError,
        "gzip data",
    ),
    "layer packed and cut": (
        Image(pack=lambda content: packed(content)[:-9]),
        image_errors.LayerContentError,
        "too early",
    ),
    "layer packed with more after it": (
        Image(pack=lambda content: packed(content) + packed(b"more")),
        image_errors.LayerContentError,
        "data after the end",
    ),
    "gzip layer bomb": (
        Image(pack=lambda _: zeros(64 << 20)),
        image_errors.TooLargeError,
        "expected at most 1048576",
    ),
}


@pytest.mark.parametrize("name", INVALID)
@pytest.mark.parametrize("layout", ["legacy", "oci"])
def test_an_invalid_archive_is_refused(tmp_path: Path, name: str, layout: str) -> None:
    image, kind, text = INVALID[name]
    problem = read_error(tmp_path, getattr(image, layout)(), SMALL)
    assert type(problem) is kind, repr(problem)
    assert text in str(problem)


@pytest.mark.parametrize("name", ["sparse by GNU", "sparse by PAX"])
def test_a_sparse_file_in_a_layer_is_refused(tmp_path: Path, name: str) -> None:
    """Engines write out its holes: a terabyte from a kilobyte."""
    if name == "sparse by GNU":
        content = bytearray(tarred([member("hole", b"x", type=tarfile.GNUTYPE_SPARSE)]))
    else:
        headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 40)}
        content = bytearray(tarred([member("hole", b"1\n0\n0\n", pax_headers=headers)], tarfile.PAX_FORMAT))
    problem = read_error(tmp_path, Image(layers=[bytes(content)]).oci())
    assert type(problem) is image_errors.LayerContentError
    assert "a sparse file" in str(problem)


@pytest.mark.parametrize("cut", [1, 100, 511, 512, 513, 2000, 5000])
def test_a_truncated_archive_is_refused(tmp_path: Path, cut: int) -> None:
    content = Image().legacy().rstrip(b"\0")
    assert isinstance(read_error(tmp_path, content[:-cut]), image_errors.ImageArchiveError)


@pytest.mark.parametrize("content", [b"", b"x", bytes(10_240), b"PK\x03\x04" * 1000, packed(b"x" * 1000)])
def test_a_file_that_is_not_an_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    assert isinstance(read_error(tmp_path, content), image_errors.ImageArchiveError)


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    limits = dataclasses.replace(SMALL, archive_bytes=1 << 20)
    assert isinstance(read_error(tmp_path, zeros(100 << 20), limits), image_errors.TooLargeError)
    assert isinstance(read_error(tmp_path, bytes(2 << 20), limits), image_errors.TooLargeError)


def test_a_layer_may_be_compressed_to_any_size(tmp_path: Path) -> None:
    """A file that was allocated and not yet filled compresses to a thousandth; its size before that is limited."""
    image = Image(layers=[tarred([member("zeros", bytes(16 << 20))])], pack=packed)
    assert read(tmp_path, image.oci()).id == image.id()
    problem = read_error(tmp_path, image.oci(), ImageLimits(unpacked_bytes=16 << 20))
    assert isinstance(problem, image_errors.TooLargeError)


def test_a_folder_in_place_of_the_archive_is_refused(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(image_errors.ImageArchiveError, match="not a regular file"):
        read_image(descriptor)
    os.close(descriptor)


def test_the_limits_of_all_layers_are_shared(tmp_path: Path) -> None:
    """The error names the limit and the total so far, not what the last layer has."""
    image = Image(layers=[layer(1), layer(2), layer(3)])
    problem = read_error(tmp_path, image.oci(), ImageLimits(layer_members=5))
    assert str(problem) == "layer 3 of 3 brings the image to 6 files or more, expected at most 5 in all layers"
    most = len(layer(1)) + len(layer(2))
    problem = read_error(tmp_path, image.oci(), ImageLimits(unpacked_bytes=most))
    found = re.fullmatch(
        r"layer 3 of 3 brings the uncompressed size to (\d+) bytes or more, .* at most (\d+)", str(problem)
    )
    assert found and most < int(found[1]) <= most + len(layer(3)) and int(found[2]) == most


@pytest.mark.parametrize("name", REFUSED_WHEN_READ)
def test_a_config_that_engines_refuse_or_need_long_for_is_refused(tmp_path: Path, name: str) -> None:
    image, code = REFUSED_WHEN_READ[name]
    assert read_error(tmp_path, image.oci()).code == code


@pytest.mark.parametrize("name", [*REFUSED_BY_ENGINE, *RUN_BY_ENGINE])
def test_an_image_that_only_an_engine_can_judge_is_read(tmp_path: Path, name: str) -> None:
    image = REFUSED_BY_ENGINE[name] if name in REFUSED_BY_ENGINE else RUN_BY_ENGINE[name][0]
    assert read(tmp_path, image.legacy()).id == image.id()


def test_a_config_as_build_tools_write_it_is_accepted(tmp_path: Path) -> None:
    """Times with nanoseconds and offsets, nulls, a HEALTHCHECK with all its keys, and keys that no engine knows."""
    settings = {
        **dict.fromkeys(("Hostname", "Domainname", "User", "Image", "WorkingDir", "MacAddress"), ""),
        **dict.fromkeys(("AttachStdin", "AttachStdout", "AttachStderr", "Tty", "OpenStdin", "StdinOnce"), False),
        "ExposedPorts": {"80/tcp": {}, "443/udp": None},
        "Env": ["PATH=/usr/bin:/bin", "EMPTY=", "TEXT=a=b\n\tc"],
        "Cmd": None,
        "Entrypoint": ["/bin/sh", "-c", "if true\nthen\n\texec /run\nfi"],
        "Healthcheck": {
            "Test": ["CMD-SHELL", "true"],
            **dict.fromkeys(("Interval", "Timeout", "StartPeriod", "StartInterval"), 30000000000),
            "Retries": 3,
        },
        "ArgsEscaped": True,
        "Volumes": None,
        "OnBuild": None,
        "Labels": {"org.opencontainers.image.title": "\u00fc", "": "", "metadata": "x" * 300_000},
        "StopSignal": "SIGQUIT",
        "StopTimeout": 10,
        "Shell": ["/bin/bash", "-c"],
        "Memory": 0,
    }
    times = ("2024-05-01T10:20:30.123456789Z", "0001-01-01T00:00:00Z", "2024-05-01T10:20:30+02:00", None)
    history = [{"created": time, "created_by": "RUN", "comment": "buildkit", "empty_layer": True} for time in times]
    top = {
        "created": times[0],
        "history": [*history, {"created_by": "COPY"}, {"author": "me"}],
        "container_config": {**settings, "Cmd": ["/bin/sh"]},
        "docker_version": "20.10.24",
        "variant": "v8",
        "os.features": [],
    }
    image = Image(settings=settings, top=top)
    assert read(tmp_path, image.oci()).id == image.id()


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A compressed layer of 128 MB is read with under 20 MB of memory."""
    image = Image(layers=[tarred([member("zeros", bytes(128 << 20))])], pack=packed)
    path = stored(tmp_path, image.oci())
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            archive_read = read_image(file.fileno())
            assert sum(map(len, archive_read.clean())) > 128 << 20
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_each_error_class_has_its_own_code() -> None:
    kinds = [kind for kind in vars(image_errors).values() if isinstance(kind, type) and issubclass(kind, ImageError)]
    assert len(kinds) > 10
    assert len({kind.code for kind in kinds}) == len(kinds)
