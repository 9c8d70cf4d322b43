"""The sandbox's job that makes a baseline's predictions; no gold that is held out comes near it."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from evaluator.baselines import find_baseline, made
from evaluator.tasks.audit.split import Split
from evaluator.tasks.registry import find_task

SEED = 0


def make_baseline(files: Mapping[str, BinaryIO], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The baseline that the argument `baseline` names; the attachment is its predictions, empty where it says nothing.

    files: inputs, and gold of public training splits as "0", "1"...; `inputs_name` and `train_names` have their names.
    """
    task = find_task(arguments["task"])
    baseline = find_baseline(task.name, arguments["baseline"])
    options = task.parse_options(arguments.get("options", {}))
    every = task.parse_options({})  # of training gold all is read, whatever fold is asked about
    trains = [
        Split.of(task, name, task.read_gold(files[str(place)], name, every))
        for place, name in enumerate(arguments.get("train_names", []))
    ]
    body = made(
        baseline,
        task=task.name,
        inputs=files["inputs"],
        name=arguments["inputs_name"],
        trains=trains,
        facts=arguments.get("expects", {}),
        options=options,
        seed=arguments.get("seed", SEED),
    )
    return {"ok": True, "says": bool(body), "n_lines": body.count(b"\n")}, body
