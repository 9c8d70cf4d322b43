"""What `holdout run` and `holdout submit` take."""

from __future__ import annotations

import argparse
from typing import Any

RUN = "run an image on inputs as the server would, and check what it writes"
SUBMIT = "send predictions or an image to a server"


def add_run(commands: Any) -> argparse.ArgumentParser:
    run: argparse.ArgumentParser = commands.add_parser("run", help=RUN, description=RUN)
    run.add_argument("image", help="a tag or id of this machine's engine, or the file that docker save wrote")
    run.add_argument("--task", required=True)
    run.add_argument("--inputs", required=True, help="the split's public inputs; .gz is unpacked")
    run.add_argument("--output", help="where predictions go; predictions.jsonl unless said")
    run.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--seconds", help="wall limit, 600 unless said; the phase's page tells what holds there")
    run.add_argument("--memory", help="limit of memory, /tmp and /output included; 4GB unless said")
    run.add_argument("--cpus", help="processors, 1 unless said")
    run.add_argument("--processes", help="processes and threads, 256 unless said")
    run.add_argument("--runtime", default="runc", help="the engine's OCI runtime: runc, runsc; runc unless said")
    run.add_argument("--no-check", action="store_true", help="leave out reading the image as the server reads it")
    run.add_argument("--json", action="store_true")
    return run


def add_submit(commands: Any) -> argparse.ArgumentParser:
    submit: argparse.ArgumentParser = commands.add_parser("submit", help=SUBMIT, description=SUBMIT)
    submit.add_argument("predictions", nargs="?", help="JSON Lines, or .jsonl.gz")
    submit.add_argument("--image", help="the file that docker save wrote, or a tag or id of this machine's engine")
    submit.add_argument("--reference", help="an image of a registry that the server allows: registry/name@sha256:...")
    submit.add_argument("--server", required=True, help="its address: https://board.example")
    submit.add_argument("--token-file", help="a file with an API token; else the variable HOLDOUT_TOKEN has it")
    submit.add_argument("--benchmark", required=True)
    submit.add_argument("--phase", required=True)
    submit.add_argument("--system", required=True, help="the method's name; it is made if needed")
    submit.add_argument("--team", default="", help="your first unless said")
    submit.add_argument("--note", default="", help="for your own list; never published")
    submit.add_argument("--resume", metavar="ID", help="go on with the upload of an image that broke off")
    submit.add_argument("--wait", action="store_true", help="follow the submission to its end, and print its scores")
    submit.add_argument("--json", action="store_true")
    return submit
