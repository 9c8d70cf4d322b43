"""Custom scorers for tests: an image whose behaviour depends on its first measure's doc, and rows without an engine."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from leaderboard.models import Image, Phase, Scorer, WorkerReport
from tests.support import container_images
from tests.support.rows.tiny_world import World

DIGEST = "sha256:" + "5c" * 32
ACCURACY = {
    "name": "strict_accuracy",
    "title": "Strict accuracy",
    "doc": "right",
    "lower": 0.0,
    "upper": 1.0,
    "higher_is_better": True,
}
WITHIN = "print(json.dumps({}), file=open('/output/outcomes.jsonl', 'w'))"

PROGRAM = r"""
import json, os, sys, time
told = json.load(open("/input/task.json"))
kind = told["measures"][0]["doc"]
gold = [json.loads(line) for line in open(told["gold"])]
said = {one["id"]: one["predicted_label"] for one in map(json.loads, open(told["predictions"]))}
name = told["primary"]
right = [float(said.get(one["id"]) == one["label"]) for one in gold]


def row(value, n=None, **slice_):
    n = len(gold) if n is None else n
    return {"measure": name, "slice": slice_, "value": value, "low": None, "high": None, "n": n}


def mean(values):
    return sum(values) / len(values)


def write(scores, **changes):
    whole = {"task": told["task"], "task_version": told["task_version"], "n_units": len(gold), "n_groups": len(gold),
             "scores": scores, "warnings": ["the gold is " + json.dumps(gold)]}
    with open("/output/scores.json", "w") as file:
        json.dump({**whole, **changes}, file)


def outcomes(values, groups=None):
    with open("/output/outcomes.jsonl", "w") as file:
        for one, value in zip(gold, values):
            print(json.dumps({"id": one["id"], "slices": one["slices"], "values": {name: value}}), file=file)


print("GOLD", json.dumps(gold))
print("GOLD", json.dumps(gold), file=sys.stderr)
original = [value for one, value in zip(gold, right) if one["slices"]["origin"] == "original"]
scores = [row(mean(right)), row(mean(original), len(original), origin="original")]
if kind == "values alone":
    write(scores)
elif kind == "another mean":
    write([row(mean(right) / 2 + 0.1)])
    outcomes(right)
elif kind == "other units":
    write([row(1.0)], n_units=1, n_groups=1)
    with open("/output/outcomes.jsonl", "w") as file:
        print(json.dumps({"id": "x" + str(sum(right)), "values": {name: 1.0}}), file=file)
elif kind == "by the clock":
    write([row(time.time_ns() % 1000 / 1000)])
elif kind == "outcomes by the clock":
    write(scores)
    if time.time_ns() // 1000 % 2:
        outcomes(right)
    else:
        with open("/output/outcomes.jsonl", "w") as file:
            file.write(str(time.time_ns()))
elif kind == "nan":
    write([row(float("nan"))])
elif kind == "infinite":
    open("/output/scores.json", "w").write(json.dumps({"task": told["task"], "task_version": told["task_version"],
        "n_units": 4, "n_groups": 4, "scores": [row(0.5)], "warnings": []}).replace("0.5", "1e999"))
elif kind == "out of range":
    write([row(1.5)])
elif kind == "unknown measure":
    write([row(0.5), {**row(0.5), "measure": "secret-" + gold[0]["label"]}])
elif kind == "missing measure":
    write([row(0.5, 1, origin="original")])
elif kind == "unknown slice":
    write([row(0.5), row(0.5, **{gold[0]["evidence_text"]: gold[0]["label"]})])
elif kind == "unknown field":
    write([row(0.5)], **{gold[0]["evidence_text"]: 1})
elif kind == "another version":
    write([row(0.5)], task_version=told["task_version"] + 1)
elif kind == "nothing":
    pass
elif kind == "exit":
    raise SystemExit(json.dumps(gold))
elif kind == "for ever":
    while True:
        pass
elif kind == "memory":
    held = bytearray(1 << 30)
    held[::4096] = b"x" * len(held[::4096])
elif kind == "a gigabyte":
    with open("/output/scores.json", "wb") as file:
        for _ in range(1024):
            file.write(bytes(1 << 20))
elif kind == "a sparse file":
    os.truncate(os.open("/output/scores.json", os.O_CREAT | os.O_RDWR), 256 << 20)
elif kind == "looks around":
    import socket
    found = []
    for path in ("/gold/gold.jsonl", "/gold/new", "/predictions/predictions.jsonl", "/input/task.json", "/etc/new"):
        try:
            open(path, "a").write("x")
            found.append("wrote " + path)
        except OSError:
            pass
    for address in (("1.1.1.1", 53), ("169.254.169.254", 80), ("172.17.0.1", 22)):
        try:
            socket.create_connection(address, 1)
            found.append("reached " + address[0])
        except OSError:
            pass
    listed = sorted(os.listdir("/gold")) + sorted(os.listdir("/predictions")) + sorted(os.listdir("/input"))
    if listed != ["gold.jsonl", "predictions.jsonl", "task.json"]:
        found.append("sees " + " ".join(listed))
    for path in ("/var/run/docker.sock", "/run/docker.sock", "/data", "/work", "/run/holdout"):
        if os.path.exists(path):
            found.append("sees " + path)
    known = {"PATH", "HOME", "HOSTNAME", "OMP_NUM_THREADS", "PYTHONHASHSEED", "LC_CTYPE", "LANG", "GPG_KEY",
             "PYTHON_VERSION", "PYTHON_SHA256"}
    ours = ("HOLDOUT_", "NVIDIA_")
    found += ["environment " + name for name in os.environ if name not in known and not name.startswith(ours)]
    found += ["secret " + name for name in os.environ if "SECRET" in name or "DATABASE" in name or "BROKER" in name]
    if os.getuid() != 65534:
        found.append("is " + str(os.getuid()))
    # The scorer cannot report text, so it reports a finding by failing.
    if found:
        raise SystemExit(3)
    write(scores)
    outcomes(right)
else:
    write(scores)
    outcomes(right)
"""


@contextmanager
def built() -> Iterator[str]:
    """Build the image and yield its id; it is removed from the engine afterwards."""
    with tempfile.TemporaryDirectory() as context:
        Path(context, "main.py").write_text(PROGRAM)
        Path(context, "Dockerfile").write_text(
            f'FROM {container_images.BASE}\nCOPY main.py /main.py\nENTRYPOINT ["python3", "/main.py"]\n'
        )
        result = container_images._docker("build", "--quiet", context)
    assert not result.returncode, result.stderr
    image = result.stdout.strip()
    try:
        yield image
    finally:
        container_images._docker("image", "rm", image)


def row(world: World, *, does: str = "right", digest: str = DIGEST, number: int = 1, **changes: Any) -> Scorer:
    """Insert a scorer of the world's benchmark, as if an engine had its image."""
    image = Image.objects.filter(digest=digest).first()
    if image is None:
        image = Image(archive_sha256=uuid.uuid4().hex * 2, archive_bytes=10, digest=digest)
        image.archive.save("image.tar", ContentFile(b"an archive"), save=True)
    described = {"measures": [{**ACCURACY, "doc": does}], "primary": "strict_accuracy", "reason": "first", **changes}
    return Scorer.objects.create(
        benchmark=world.benchmark, number=number, image=image, created_by=world.curator, **described
    )


def scores_by(world: World, scorer: Scorer | None) -> None:
    """Set the scorer of the world's phase."""
    Phase.objects.filter(pk=world.phase.pk).update(scorer=scorer)
    world.phase.refresh_from_db()


def worker_is_there(**changes: Any) -> WorkerReport:
    """Insert a recent report of a worker for scorers that is ready."""
    fields = {"ready": True, "detail": {"runtime": "runc"}, "seen_at": timezone.now(), **changes}
    return WorkerReport.objects.create(queue="scorers", host="scorers-1", **fields)
