"""Every job run once on small files that take every path of a task, before anything real comes.

A forked child must not import or build anything for the first time, since it can open no file.
"""

import gzip
import io
from collections.abc import Callable, Mapping
from typing import Any

from evaluator.jobs.audit import NAMES as AUDIT_PARTS
from evaluator.tasks.registry import TASKS, find_task

Jobs = Mapping[str, Callable[[Any, Any], tuple[dict[str, Any], bytes]]]

_MEASURE = {"name": "m", "title": "M", "doc": "d", "lower": 0.0, "upper": None, "higher_is_better": True}
_DECLARED = {"task": "t", "task_version": 1, "measures": [_MEASURE], "primary": "m", "dimensions": {"d": ["x", "y"]}}
_HEAD = b'{"task": "t", "task_version": 1, "n_units": 2, "n_groups": 2, "warnings": ["w"], "scores": ['
_WHOLE = b'{"measure": "m", "slice": {}, "value": 0.5, "n": 2, "low": null, "high": null}'
_UNITS = (
    b'{"id": "a", "group": "g", "slices": {"d": "x"}, "values": {"m": 1}}\n'
    b'{"id": "b\xc3\xa9", "slices": {"d": "y"}, "values": {"m": 0.0}}\n'
)
SCORER_SAMPLES: tuple[tuple[dict[str, Any], bytes, bytes], ...] = tuple(
    (_DECLARED | {"resamples": 20, "seed": 1}, scores, outcomes)
    for scores in (_HEAD + _WHOLE + b"]}", _HEAD + _WHOLE + b", " + _WHOLE + b"]}", b'{"a": NaN}', b"\xff", b"")
    for outcomes in (_UNITS, _UNITS[:-9], _UNITS.replace(b"values", b"value"), b"")
)
"""(arguments, scores.json, outcomes.jsonl) of an organiser's own scorer, right and wrong."""


_PUBLISHED = b"".join(
    b'{"id": "%s", "claim": "c%d", "evidence_sentence": "e%d", "label": "%s"}\n' % member
    for member in (
        (b"1", 1, 1, b"SUPPORTS"),
        (b"10000002", 1, 2, b"REFUTES"),
        (b"10000003", 2, 1, b"REFUTES"),
        (b"10000004", 2, 2, b"SUPPORTS"),
    )
)
_LINES = b"".join(b'{"id": %d, "claim": "c", "label": "SUPPORTS"}\n' % number for number in range(4))
_GRAPH = b"".join(b"s%d\tp\to%d\ns%d\tq\to%d\n" % (i, i, i, (i + 1) % 6) for i in range(6))
GENERATOR_SAMPLES: tuple[tuple[str, str, dict[str, str], tuple[tuple[str, bytes], ...]], ...] = (
    ("fact-verification", "as-it-is", {}, (("gold", _LINES),)),
    ("fact-verification", "holdout", {"parts": "a=0.5,b=0.5", "stratify": "label"}, (("gold", _LINES),)),
    ("fact-verification", "folds", {"by": "id", "folds": "2"}, (("gold", _LINES),)),
    ("fact-verification", "published-symmetric", {}, (("published", _PUBLISHED),)),
    (
        "fact-verification",
        "symmetric",
        {},
        (
            ("originals", b'{"id": 1, "claim": "c", "evidence_text": "e", "label": "SUPPORTS"}\n'),
            ("contraries", b'{"id": 1, "claim": "d", "evidence_text": "f"}\n'),
        ),
    ),
    (
        "fact-checking",
        "scenarios",
        {"relation": "p", "size": "4", "transparency": "0,1", "popularity": "popular,non-popular,random"},
        (("graph", _GRAPH), ("types", b'{"o1": ["t"]}')),
    ),
    ("fact-checking", "scenarios", {"relation": "p", "size": "2", "plausible": "closed-world"}, (("graph", _GRAPH),)),
    (
        "link-prediction",
        "open-questions",
        {},
        (("evaluation", b"a\tr\tb\n"), ("known", b"a\tr\tc\n"), ("mentions", b"a\te1\n")),
    ),
)
"""(task, generator, parameters, sources) of the desk."""


def run(jobs: Jobs) -> None:
    """Right and wrong files through each of `operations.JOBS`."""
    for name, task in list(TASKS.items()):
        try:
            for gold, predictions in task.samples:
                _run_once(jobs, name, gold, predictions)
        except Exception as error:  # a package that fails takes no other task with it
            if name in TASKS.built_in:
                raise
            TASKS.leave_out(name, f"its samples fail: {type(error).__name__}: {error}")
    _generators(jobs)
    for arguments, scores, outcomes in SCORER_SAMPLES:
        files = {"scores": io.BytesIO(scores), **({"outcomes": io.BytesIO(outcomes)} if outcomes else {})}
        jobs["scorer_output"](files, arguments)


def _run_once(jobs: Jobs, task: str, gold: bytes, predictions: bytes) -> None:
    arguments: dict[str, Any] = {"task": task, "options": {}, "resamples": 20, "seed": 1}
    arguments |= {f"{kind}_name": f"{kind}.jsonl" for kind in ("gold", "predictions", "inputs")}
    prepared, inputs = jobs["prepare_gold"]({"gold": io.BytesIO(gold)}, arguments)
    if not prepared["ok"]:
        raise ValueError(f"gold is refused: {prepared['problems'][0]['text']}")
    arguments["expects"] = prepared["expects"]
    broken = b'{"id": 1, "id": "\\ud800", "x": [NaN, 1e999]}\n\xff\n\n{"documentId": 5}\n{"id": 1.5}\n[1]\n' + b"[" * 99
    for answers in (predictions, broken, b"", predictions.replace(b"{", b'{"confidence": 0.5, ', 1)):
        files = {"inputs": io.BytesIO(inputs), "predictions": io.BytesIO(answers), "gold": io.BytesIO(gold)}
        jobs["validate"](files, arguments)
        files["predictions"].seek(0)
        scored, attachment = jobs["score"](files, arguments)
        if attachment:
            jobs["compare_outcomes"]({"a": io.BytesIO(attachment), "b": io.BytesIO(attachment)}, arguments)
            board = {place: io.BytesIO(attachment) for place in ("0", "1")}
            pair = {name: io.BytesIO(attachment) for name in "ab"} | {"gold": io.BytesIO(gold)}
            jobs["side_by_side"](pair, arguments)
            jobs["draw"]({"table": io.BytesIO(attachment)}, arguments)
            jobs["compare_board"](board, arguments | {"pairs": [[0, 1]], "measure": scored["primary"]})
        both = {"gold": gold, "predictions_a": predictions, "predictions_b": answers}
        names = {f"{kind}_name": f"{kind}.jsonl" for kind in both}
        jobs["compare"]({kind: io.BytesIO(body) for kind, body in both.items()}, arguments | names)
    packed = gzip.compress(predictions, mtime=0)
    for body in (packed, packed[:-4]):
        files = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(body)}
        jobs["score"](files, arguments | {"predictions_name": "predictions.jsonl.gz"})
    for body in (predictions, broken):
        files = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)}
        jobs["signature"](files, arguments)
        files = {"gold": io.BytesIO(gold), "0": io.BytesIO(predictions), "1": io.BytesIO(body)}
        jobs["near_copies"](files, arguments | {"names": ["predictions.jsonl", "predictions.jsonl"]})
    jobs["prepare_gold"]({"gold": io.BytesIO(broken)}, arguments)
    divided, division = jobs["divide"]({"gold": io.BytesIO(gold)}, arguments | {"share": "0.5"})
    if divided["ok"]:
        files = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions), "division": io.BytesIO(division)}
        jobs["score"](files, arguments | {"half": "public"})
        jobs["divide"]({"gold": io.BytesIO(gold), "kept": io.BytesIO(division)}, arguments | {"share": "0.5"})
    _audit(jobs, gold, inputs, arguments)
    _baselines(jobs, gold, inputs, arguments)
    _difference(jobs, gold, broken, arguments)
    jobs["score"]({}, arguments | {"task": "?"})


def _baselines(jobs: Jobs, gold: bytes, inputs: bytes, arguments: dict[str, Any]) -> None:
    """Alone, and beside training gold: the same lines again."""
    for baseline in find_task(arguments["task"]).baselines:
        named = arguments | {"baseline": baseline.name}
        jobs["baseline"]({"inputs": io.BytesIO(inputs)}, named)
        files = {"inputs": io.BytesIO(inputs), "0": io.BytesIO(gold)}
        jobs["baseline"](files, named | {"train_names": ["train.jsonl"]})
    jobs["baseline"]({"inputs": io.BytesIO(inputs)}, arguments | {"baseline": "?"})


def _generators(jobs: Jobs) -> None:
    """Each on the desk, right and wrong."""
    for task, generator, parameters, sources in GENERATOR_SAMPLES:
        arguments = {"task": task, "generator": generator, "parameters": parameters, "seed": 1, "salt": "long enough"}
        named = [[role, f"{role}.{'json' if role == 'types' else 'txt'}"] for role, _ in sources]
        for broken in (False, True):
            bodies = (b'\xff\n{"id": 1.5}\n' if broken else body for _, body in sources)
            files = {str(place): io.BytesIO(body) for place, body in enumerate(bodies)}
            jobs["generate"](files, arguments | {"sources": named})
    jobs["generate"]({}, {"task": "fact-checking", "generator": "?"})


def _audit(jobs: Jobs, gold: bytes, inputs: bytes, arguments: dict[str, Any]) -> None:
    """Alone, and beside inputs and a training split: the same lines, so that everything leaks."""
    named = arguments | {"train_names": ["train.jsonl"]}
    for part in AUDIT_PARTS:
        jobs["audit_part"]({"gold": io.BytesIO(gold)}, arguments | {"part": part})
        files = {"gold": io.BytesIO(gold), "inputs": io.BytesIO(inputs), "0": io.BytesIO(gold)}
        jobs["audit_part"](files, named | {"part": part})
    jobs["audit_part"]({"gold": io.BytesIO(gold)}, arguments | {"part": "?"})


def _difference(jobs: Jobs, gold: bytes, broken: bytes, arguments: dict[str, Any]) -> None:
    """The same lines, none of them, fewer of them, lines that are written otherwise, packed ones, and broken ones."""
    named = arguments | {"before_name": "gold.jsonl", "after_name": "gold.jsonl"}
    fewer, other = gold[: gold.rfind(b"\n", 0, -1) + 1] or gold, gold.replace(b"{", b'{"remark": 1, ', 1)
    for before, after in ((gold, gold), (gold, fewer), (fewer, gold), (gold, other), (gold, broken), (gold, b"")):
        jobs["gold_difference"]({"before": io.BytesIO(before), "after": io.BytesIO(after)}, named)
    packed = {"before": io.BytesIO(gzip.compress(gold, mtime=0)), "after": io.BytesIO(gold)}
    jobs["gold_difference"](packed, named | {"before_name": "gold.jsonl.gz"})
