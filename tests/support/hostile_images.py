"""Images whose config or layers no honest build makes, as small archives that are made without an engine.

Their program is the probe of the sandbox's own image. It prints some lines and writes no predictions, so an image that
the engine runs ends with `system_output`; any other ending shows that the image was refused before.
"""

from __future__ import annotations

import io
import tarfile
from functools import cache
from typing import Any

from evaluator.sandbox.containers.image_config import this_architecture
from evaluator.sandbox.containers.volume_holder_image import volume_holder_image
from tests.evaluator.sandbox.containers.archives import Image, member, tarred

RUN = ["/probe"]
_PAX = tarfile.PAX_FORMAT


@cache
def _program() -> bytes:
    """Return the layer with the two static programs of the sandbox's own image."""
    with tarfile.open(fileobj=io.BytesIO(volume_holder_image(this_architecture()).archive)) as archive:
        (layer,) = (file for file in archive.getmembers() if file.name.endswith(".tar"))
        content = archive.extractfile(layer)
        assert content is not None
        return content.read()


def _settings(**settings: Any) -> Image:
    return Image(layers=[_program()], settings={"Cmd": RUN, **settings})


def _top(**top: Any) -> Image:
    """Return an image with further keys of the config's upper level; `__` in their names stands for a dot."""
    return Image(
        layers=[_program()],
        settings={"Cmd": RUN},
        top={name.replace("__", "."): value for name, value in top.items()},
    )


def _layers(*layers: bytes, **settings: Any) -> Image:
    return Image(layers=[_program(), *layers], settings={"Cmd": RUN, **settings})


def _file(name: str, content: bytes = b"x", **fields: Any) -> bytes:
    """Return a layer with one file. fields: of its TarInfo."""
    return tarred([member(name, content, **fields)])


def _link(name: str, target: str) -> bytes:
    return _file(name, b"", type=tarfile.SYMTYPE, linkname=target)


def _deep(count: int) -> bytes:
    return _top().config_bytes().replace(b'"os"', b'"deep": ' + b"[" * count + b"]" * count + b', "os"', 1)


def _numbered(count: int) -> list[bytes]:
    return [_file(f"layer-{number}") for number in range(count)]


REFUSED_WHEN_READ: dict[str, tuple[Image, str]] = {
    # Numbers and sizes.
    "60,000 variables": (_settings(Env=[f"A{n}=1" for n in range(60_000)]), "config"),
    "60,000 labels": (_settings(Labels={f"a{n}": "1" for n in range(60_000)}), "config"),
    "60,000 ports": (_settings(ExposedPorts={f"{n}/tcp": {} for n in range(60_000)}), "config"),
    "60,000 words of CMD": (_settings(Cmd=[*RUN, *(["x"] * 60_000)]), "config"),
    "60,000 words of ENTRYPOINT": (_settings(Entrypoint=[*RUN, *(["x"] * 60_000)]), "config"),
    "60,000 ONBUILD": (_settings(OnBuild=["RUN x"] * 60_000), "config"),
    "3,000 volumes": (_settings(Volumes={f"/v{n}": {} for n in range(3000)}), "volume"),
    "10,000 lines of history": (_top(history=[{"empty_layer": True}] * 10_000), "config"),
    "more history than layers": (_top(history=[{"created_by": "x"}] * 50), "config"),
    "1,001 variables": (_settings(Env=[f"A{n}=1" for n in range(1001)]), "config"),
    "a variable of 1 MB": (_settings(Env=["A=" + "x" * 1_000_000]), "config"),
    "a word of 200 kB": (_settings(Cmd=[*RUN, "x" * 200_000]), "config"),
    "a label of 600 kB": (_settings(Labels={"a": "x" * 600_000}), "config"),
    "a config of 2 MB": (_settings(Labels={"a": "x" * 2_000_000}), "too_large"),
    "USER of 500 kB": (_settings(User="x" * 500_000), "config"),
    "WORKDIR of 1,200 bytes": (_settings(WorkingDir="/" + "/".join(["x" * 200] * 6)), "config"),
    "WORKDIR with a name of 300 bytes": (_settings(WorkingDir="/" + "x" * 300), "config"),
    "126 layers": (_layers(*_numbered(125)), "layers"),
    "127 layers": (_layers(*_numbered(126)), "layers"),
    "128 layers": (_layers(*_numbered(127)), "layers"),
    # Text.
    "NUL in a variable": (_settings(Env=["A=\0"]), "config"),
    "NUL in CMD": (_settings(Cmd=["/probe", "a\0b"]), "config"),
    "NUL in a label": (_settings(Labels={"a\0": "x"}), "config"),
    "NUL in USER": (_settings(User="a\0"), "config"),
    "half a surrogate pair": (_settings(Env=["A=\ud800"]), "config"),
    "a newline in WORKDIR": (_settings(WorkingDir="/a\nb"), "config"),
    "ESC in STOPSIGNAL": (_settings(StopSignal="\x1b[31m"), "config"),
    "a variable without =": (_settings(Env=["FOO"]), "config"),
    "a variable without a name": (_settings(Env=["=x"]), "config"),
    "an empty variable": (_settings(Env=[""]), "config"),
    # Commands and folders.
    "no command": (_settings(Cmd=None), "config"),
    "an empty CMD": (_settings(Cmd=[]), "config"),
    'CMD [""]': (_settings(Cmd=[""]), "config"),
    'ENTRYPOINT [""] alone': (_settings(Cmd=None, Entrypoint=[""]), "config"),
    'ENTRYPOINT ["", "x"]': (_settings(Entrypoint=["", "x"]), "config"),
    "a relative WORKDIR": (_settings(WorkingDir="a/b"), "config"),
    "VOLUME /": (_settings(Volumes={"/": {}}), "volume"),
    "VOLUME /proc": (_settings(Volumes={"/proc": {}}), "volume"),
    # Types.
    "env is a string": (_settings(Env="A=1"), "config"),
    "env of numbers": (_settings(Env=[1]), "config"),
    "env of nulls": (_settings(Env=[None]), "config"),
    "entrypoint is a string": (_settings(Entrypoint="/probe"), "config"),
    "workdir is a number": (_settings(WorkingDir=1), "config"),
    "user is a number": (_settings(User=0), "config"),
    "volumes is a list": (_settings(Volumes=["/a"]), "volume"),
    "a port's value is a list": (_settings(ExposedPorts={"80/tcp": []}), "config"),
    "healthcheck is a list": (_settings(Healthcheck=["x"]), "config"),
    "healthcheck's test is a string": (_settings(Healthcheck={"Test": "x"}), "config"),
    "healthcheck's interval is huge": (_settings(Healthcheck={"Interval": 10**30}), "config"),
    "healthcheck's retries are a fraction": (_settings(Healthcheck={"Retries": 1.5}), "config"),
    "stopsignal is a number": (_settings(StopSignal=9), "config"),
    "stoptimeout is a string": (_settings(StopTimeout="x"), "config"),
    "argsescaped is a string": (_settings(ArgsEscaped="yes"), "config"),
    "tty is a string": (_settings(Tty="x"), "config"),
    "labels is a list": (_settings(Labels=["a"]), "config"),
    "a label is a number": (_settings(Labels={"a": 1}), "config"),
    "onbuild is a string": (_settings(OnBuild="RUN x"), "config"),
    "shell of numbers": (_settings(Shell=[1]), "config"),
    "hostname is a number": (_settings(Hostname=1), "config"),
    "config is a list": (Image(layers=[_program()], settings=["x"]), "config"),  # type: ignore[arg-type]
    "created is no time": (_top(created="yesterday"), "config"),
    "created has no zone": (_top(created="2020-01-01T00:00:00"), "config"),
    "history is an object": (_top(history={}), "config"),
    "history of strings": (_top(history=["x"]), "config"),
    "empty_layer is a string": (_top(history=[{"empty_layer": "x"}]), "config"),
    "container_config is a string": (_top(container_config="x"), "config"),
    "docker_version is a number": (_top(docker_version=1), "config"),
    "os.version is a number": (_top(os__version=10), "config"),
    "os.features is a string": (_top(os__features="x"), "config"),
    "variant is a number": (_top(variant=1), "config"),
    "size is a string": (_top(size="x"), "config"),
    "rootfs has another type": (_top(rootfs={"type": "x", "diff_ids": ["sha256:" + "0" * 64]}), "config"),
    "600 levels of lists": (Image(layers=[_program()], config=_deep(600)), "config"),
    "950 levels of lists": (Image(layers=[_program()], config=_deep(950)), "config"),
}
"""Images that the check of their archive refuses, and the code of the error."""

REFUSED_BY_ENGINE: dict[str, Image] = {
    "WORKDIR is a file": _settings(WorkingDir="/probe"),
    "WORKDIR below a file": _settings(WorkingDir="/probe/x/y"),
    "WORKDIR in a loop of links": _layers(_link("loop", "loop"), WorkingDir="/loop/x"),
    "WORKDIR is a FIFO": _layers(_file("fifo", b"", type=tarfile.FIFOTYPE), WorkingDir="/fifo"),
    "WORKDIR of 300 folders": _settings(WorkingDir="/" + "/".join(["x"] * 300)),
    "/etc/passwd is a FIFO": _layers(_file("etc/passwd", b"", type=tarfile.FIFOTYPE)),
    "/etc/group is a FIFO": _layers(_file("etc/group", b"", type=tarfile.FIFOTYPE)),
    "/etc/passwd is a link to a FIFO": _layers(
        _file("fifo", b"", type=tarfile.FIFOTYPE), _link("link", "/fifo"), _link("etc/passwd", "../link")
    ),
    "/etc/group is /dev/zero": _layers(_file("etc/group", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "/etc/group is a link to /dev/zero": _layers(
        _file("dev/zero", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5), _link("etc/group", "/dev/zero")
    ),
    "/etc/passwd is a link to the container's /dev/ptmx": _layers(_link("etc/passwd", "/dev/ptmx")),
    "/etc/passwd is a folder": _layers(_file("etc/passwd/x")),
    "/etc/passwd of 50 MB": _layers(_file("etc/passwd", b"x" * 50_000_000)),
    "a file below a file": _layers(tarred([member("a", b"x"), member("a/x", b"x")])),
    "a hard link to nothing": _layers(_file("h", b"", type=tarfile.LNKTYPE, linkname="missing")),
    "a hard link that leads out": _layers(_file("h", b"", type=tarfile.LNKTYPE, linkname="../../../etc/hostname")),
    "a file below a link that leads out": _layers(
        tarred([member("s", type=tarfile.SYMTYPE, linkname="/no"), member("s/x", b"x")])
    ),
    "a name of 300 bytes": _layers(_file("x" * 300)),
    "a path of 6,000 bytes": _layers(_file("/".join(["x" * 200] * 30))),
    "a whiteout of ..": _layers(_file(".wh...", b"")),
    "a whiteout of nothing": _layers(_file(".wh.", b"")),
    "a wrong capability": _layers(
        tarred([member("x", b"x", pax_headers={"SCHILY.xattr.security.capability": "x"})], _PAX)
    ),
    "an attribute of 70 kB": _layers(
        tarred([member("x", b"x", pax_headers={"SCHILY.xattr.user.x": "y" * 70_000})], _PAX)
    ),
    "a time that is no number": _layers(tarred([member("x", b"x", pax_headers={"mtime": "x"})], _PAX)),
    "an owner that is no number": _layers(tarred([member("x", b"x", pax_headers={"uid": "x"})], _PAX)),
    "a path twice": _layers(tarred([member("x", b"x"), member("x", type=tarfile.DIRTYPE), member("x", b"y")])),
}
"""Images that the engine refuses to unpack or to create a container of, and those that would make it wait for ever."""

ENDED = {"system_output"}
NOT_STARTED = {"system_exit"}
RUN_BY_ENGINE: dict[str, tuple[Image, set[str]]] = {
    "the probe": (_settings(), ENDED),
    "125 layers": (_layers(*_numbered(124)), ENDED),
    "120 layers": (_layers(*_numbered(119)), ENDED),
    "1,000 variables": (_settings(Env=[f"A{n}=1" for n in range(1000)]), ENDED),
    "1,000 labels": (_settings(Labels={f"a{n}": "1" for n in range(1000)}), ENDED),
    "a label of 400 kB": (_settings(Labels={"a": "x" * 400_000}), ENDED),
    "a variable of 90 kB": (_settings(Env=["A=" + "x" * 90_000]), ENDED),
    "a variable twice": (_settings(Env=["A=1", "A=2"]), ENDED),
    "null settings": (_settings(Env=None, Labels=None, Volumes=None, Healthcheck=None), ENDED),
    "our labels": (_settings(Labels={"holdout.instance": "x", "holdout.deadline": "1", "": "x"}), ENDED),
    'ENTRYPOINT [""]': (_settings(Entrypoint=[""]), ENDED),
    "ENTRYPOINT []": (_settings(Entrypoint=[]), ENDED),
    "a relative command": (_settings(Cmd=["probe"]), NOT_STARTED),
    "a missing command": (_settings(Cmd=["/nowhere"]), NOT_STARTED),
    "a folder as command": (_settings(Cmd=["/proc"]), NOT_STARTED),
    "a command of 5,000 bytes": (_settings(Cmd=["/" + "x" * 5000]), NOT_STARTED),
    "a command without its interpreter": (_layers(_file("p", b"#!/nowhere\n", mode=0o755), Cmd=["/p"]), NOT_STARTED),
    "a damaged program": (_layers(_file("p", b"\x7fELFx", mode=0o755), Cmd=["/p"]), NOT_STARTED),
    "a deleted program": (_layers(_file(".wh.probe", b"")), NOT_STARTED),
    "an unknown user": (_settings(User="ghost:ghost"), ENDED),
    "a negative user": (_settings(User="-1"), ENDED),
    "ports that are none": (_settings(ExposedPorts={"garbage": {}, "99999999/xyz": None}), ENDED),
    "a health check": (_settings(Healthcheck={"Test": ["CMD", "/probe"], "Interval": 1, "Retries": -1}), ENDED),
    "a STOPSIGNAL that is none": (_settings(StopSignal="SIGGARBAGE", StopTimeout=-1), ENDED),
    "ArgsEscaped": (_settings(ArgsEscaped=True, Tty=True, OpenStdin=True, StdinOnce=True), ENDED),
    "a terminal and a network": (_settings(AttachStdin=True, NetworkDisabled=False, MacAddress="garbage"), ENDED),
    "a host name of 300 bytes": (_settings(Hostname="x" * 300, Domainname="y" * 300), ENDED),
    "another OSVersion": (_top(os__version="10.0.17763", os__features=["win32k"], variant="v99"), ENDED),
    "unknown keys": (_settings(Memory=-1, Foo={"a": 1}), ENDED),
    "other ids": (_top(id="x", parent="sha256:" + "0" * 64), ENDED),
    "WORKDIR through a link": (_layers(_link("l", "/etc"), WorkingDir="/l/x"), ENDED),
    "WORKDIR in a link to nothing": (_layers(_link("l", "/nowhere"), WorkingDir="/l"), ENDED),
    "WORKDIR on a descriptor by a link": (_layers(_link("l", "/proc/self/fd/7"), WorkingDir="/l"), NOT_STARTED),
    "WORKDIR in the inputs": (_settings(WorkingDir="/input"), ENDED),
    "/tmp is a file": (_layers(_file("tmp")), NOT_STARTED),
    "/input is a file": (_layers(_file("input")), NOT_STARTED),
    "/output is a file": (_layers(_file("output")), NOT_STARTED),
    "/tmp is a loop of links": (_layers(_link("tmp", "tmp")), NOT_STARTED),
    "/input is a loop of links": (_layers(_link("input", "input")), NOT_STARTED),
    "/proc and /dev are links": (_layers(_link("proc", "/etc"), _link("dev", "/etc")), ENDED),
    "/etc/hosts is a folder": (_layers(_file("etc/hosts/x")), ENDED),
    "users that cannot be parsed": (_layers(_file("etc/passwd", b"\xff:::::\n" * 10)), ENDED),
    "/etc/passwd is a link to a file": (
        _layers(_file("users", b"root:x:0:0::/:/bin/sh\n"), _link("etc/passwd", "../users")),
        ENDED,
    ),
    "a device": (_layers(_file("dev/zero", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5)), ENDED),
    "a root without rights": (_layers(_file("./", b"", type=tarfile.DIRTYPE, mode=0)), ENDED | NOT_STARTED),
}
"""Images that the engine runs or whose command it cannot start, and the reasons with which they end."""
