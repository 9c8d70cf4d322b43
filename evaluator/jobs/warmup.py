"""Warm-up of the sandbox: runs every job on small files that exercise every code path of a task.

The child processes that the sandbox forks cannot open files, so they must not be the first to import or build anything.
"""

import gzip
import io
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from evaluator.jobs.audit import NAMES, AuditPartRequest
from evaluator.jobs.base import Job, Request
from evaluator.jobs.baseline import BaselineRequest
from evaluator.jobs.compare import (
    CompareBoardRequest,
    CompareOutcomesRequest,
    CompareRequest,
    HeadToHeadRequest,
    PlotRequest,
)
from evaluator.jobs.examples import ExamplesRequest
from evaluator.jobs.generate import GenerateRequest
from evaluator.jobs.gold import PartitionRequest, PrepareGoldRequest
from evaluator.jobs.gold_diff import GoldDifferenceRequest
from evaluator.jobs.picture import FORMATS as PICTURE_FORMATS
from evaluator.jobs.picture import ReencodePictureRequest
from evaluator.jobs.score import ScoreRequest, ScorerOutputRequest, ValidateRequest
from evaluator.jobs.similarity import NearDuplicatesRequest, SketchRequest
from evaluator.jobs.tables import ReadTableRequest, WriteTableRequest
from evaluator.jsonl.tables import FORMATS
from evaluator.tasks.registry import TASKS

Jobs = Mapping[str, Job[Any]]
Once = Callable[..., tuple[dict[str, Any], bytes]]
"""Function that runs a request with plain arguments, as in the sandbox. Files are keyword arguments; `_0` means "0"."""

_MEASURE = {"name": "m", "title": "M", "doc": "d", "lower": 0.0, "upper": None, "higher_is_better": True}
_DECLARED = {"task": "t", "task_version": 1, "measures": [_MEASURE], "primary": "m", "dimensions": {"d": ["x", "y"]}}
_HEAD = b'{"task": "t", "task_version": 1, "n_units": 2, "n_groups": 2, "warnings": ["w"], "scores": ['
_WHOLE = b'{"measure": "m", "slice": {}, "value": 0.5, "n": 2, "low": null, "high": null}'
_UNITS = (
    b'{"id": "a", "group": "g", "slices": {"d": "x"}, "values": {"m": 1}}\n'
    b'{"id": "b\xc3\xa9", "slices": {"d": "y"}, "values": {"m": 0.0}}\n'
)
SCORER_SAMPLES: tuple[tuple[dict[str, Any], bytes, bytes], ...] = tuple(
    (_DECLARED, scores, outcomes)
    for scores in (_HEAD + _WHOLE + b"]}", _HEAD + _WHOLE + b", " + _WHOLE + b"]}", b'{"a": NaN}', b"\xff", b"")
    for outcomes in (_UNITS, _UNITS[:-9], _UNITS.replace(b"values", b"value"), b"")
)
"""(declared measures, scores.json, outcomes.jsonl) of a custom scorer, valid and invalid."""


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
_JUDGEMENTS = b"".join(b'{"id": 1, "annotator": %d, "label": "SUPPORTS"}\n' % number for number in (1, 2))
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
        "fact-verification",
        "adjudicate",
        {"again": "50"},
        (("annotations", _JUDGEMENTS), ("items", b'{"id": 1, "claim": "c"}\n{"id": 2, "claim": "d"}\n')),
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
"""(task, generator, parameters, sources) as the management pages send them."""


def run(jobs: Jobs) -> None:
    """Run each job on valid and invalid files. jobs: `evaluator.jobs.JOBS`."""

    def once(request: Request, **files: bytes) -> tuple[dict[str, Any], bytes]:
        streams = {name.removeprefix("_"): io.BytesIO(body) for name, body in files.items()}
        return jobs[request.job](streams, msgspec.to_builtins(request))

    for name, task in list(TASKS.items()):
        try:
            for gold, predictions in task.samples:
                _tasks_jobs(once, name, gold, predictions)
        except Exception as error:  # a failing package must not disable other tasks
            if name in TASKS.built_in:
                raise
            TASKS.leave_out(name, f"its samples fail: {type(error).__name__}: {error}")
    _generators(once)
    _tables(once)
    _pictures(once)
    for declaration, scores, outcomes in SCORER_SAMPLES:
        request = ScorerOutputRequest(**declaration, resamples=20, seed=1)
        once(request, scores=scores, **({"outcomes": outcomes} if outcomes else {}))
    for job in jobs.values():
        job({}, {"?": 1})


def _tasks_jobs(once: Once, task: str, gold: bytes, predictions: bytes) -> None:
    names: dict[str, Any] = {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
    resampling: dict[str, Any] = {"resamples": 20, "seed": 1}
    prepared, inputs = once(PrepareGoldRequest(task=task, gold_name="gold.jsonl"), gold=gold)
    if not prepared["ok"]:
        raise ValueError(f"the gold of a sample is invalid: {prepared['problems'][0]['text']}")
    expects = prepared["expects"]
    broken = b'{"id": 1, "id": "\\ud800", "x": [NaN, 1e999]}\n\xff\n\n{"documentId": 5}\n{"id": 1.5}\n[1]\n' + b"[" * 99
    scoring = ScoreRequest(task=task, **names, **resampling, sketch=True)
    validation = ValidateRequest(
        task=task, inputs_name="inputs.jsonl", predictions_name="predictions.jsonl", expects=expects
    )
    comparison = CompareRequest(
        task=task, gold_name="gold.jsonl", predictions_a_name="a.jsonl", predictions_b_name="b.jsonl", **resampling
    )
    for answers in (predictions, broken, b"", predictions.replace(b"{", b'{"confidence": 0.5, ', 1)):
        once(validation, inputs=inputs, predictions=answers)
        scored, table = once(scoring, predictions=answers, gold=gold)
        if table:
            once(CompareOutcomesRequest(**resampling), a=table, b=table)
            once(HeadToHeadRequest(gold_name="gold.jsonl", **resampling), a=table, b=table, gold=gold)
            once(PlotRequest(), table=table)
            once(CompareBoardRequest(pairs=[(0, 1)], measure=scored["primary"], **resampling), _0=table, _1=table)
        once(comparison, gold=gold, predictions_a=predictions, predictions_b=answers)
        for result in ("", "right"):
            once(ExamplesRequest(task=task, **names, result=result), gold=gold, predictions=answers)
    packed = gzip.compress(predictions, mtime=0)
    for body in (packed, packed[:-4]):
        renamed = msgspec.structs.replace(scoring, predictions_name="predictions.jsonl.gz")
        once(renamed, gold=gold, predictions=body)
    for body in (predictions, broken):
        once(SketchRequest(task=task, **names), gold=gold, predictions=predictions)
        once(
            NearDuplicatesRequest(task=task, gold_name="gold.jsonl", names=["0", "1"]),
            gold=gold,
            _0=predictions,
            _1=body,
        )
    once(PrepareGoldRequest(task=task, gold_name="gold.jsonl"), gold=broken)
    request = PartitionRequest(task=task, gold_name="gold.jsonl", seed=1, share="0.5")
    partitioned, stored_split = once(request, gold=gold)
    if partitioned["ok"]:
        on_public = msgspec.structs.replace(scoring, subset="public")
        once(on_public, gold=gold, predictions=predictions, partition=stored_split)
        once(request, gold=gold, previous=stored_split)
    _audit(once, task, gold, inputs)
    _baselines(once, task, gold, inputs, expects)
    _difference(once, task, gold, broken)
    once(msgspec.structs.replace(scoring, task="?"))


def _baselines(once: Once, task: str, gold: bytes, inputs: bytes, expects: dict[str, Any]) -> None:
    """Generate each baseline's predictions, without training gold and then with this gold as training gold.

    once: runs one job. task: the task's name. expects: requirements on predictions.
    """
    for name in [*(baseline.name for baseline in TASKS[task].baselines), "?"]:
        request = BaselineRequest(task=task, baseline=name, inputs_name="inputs.jsonl", expects=expects, seed=1)
        once(request, inputs=inputs)
        once(msgspec.structs.replace(request, train_names=["train.jsonl"]), inputs=inputs, _0=gold)


def _tables(once: Once) -> None:
    """Write gold to each table format, and read it again, whole and damaged. once: runs one job."""
    for kind in FORMATS:
        report, table = once(WriteTableRequest(gold_name="gold.jsonl", format=kind), gold=_LINES)
        if not report["ok"]:
            raise ValueError(f"gold cannot be written as {kind}: {report['problems'][0]['text']}")
        for content in (table, table[: len(table) // 2], b"\xff", b""):
            once(ReadTableRequest(task="fact-verification", gold_name=f"gold.{kind}"), gold=content)


def _pictures(once: Once) -> None:
    """Encode pictures of each format, with and without transparency and colour maps, whole and damaged.

    once: runs one job.
    """
    from PIL import Image

    for kind in PICTURE_FORMATS:
        for mode in ("RGB",) if kind == "JPEG" else ("RGB", "RGBA", "P"):
            out, metadata = io.BytesIO(), Image.Exif()
            metadata[0x0112] = 6  # turned by a quarter
            Image.new(mode, (1300, 300)).save(out, kind, exif=metadata)
            content = out.getvalue()
            report, _ = once(ReencodePictureRequest(), picture=content)
            if not report["ok"]:
                raise ValueError(f"a {kind} picture is not read: {report['problems'][0]['text']}")
            for damaged in (content[: len(content) // 2], content[:-1], b"GIF89a", b""):
                once(ReencodePictureRequest(), picture=damaged)


def _generators(once: Once) -> None:
    """Run each generator of splits on valid and invalid source files. once: runs one job."""
    for task, generator, parameters, sources in GENERATOR_SAMPLES:
        request = GenerateRequest(
            task=task,
            generator=generator,
            parameters=parameters,
            sources=[(role, f"{role}.{'json' if role == 'types' else 'txt'}") for role, _ in sources],
            seed=1,
            salt="long enough",
        )
        for broken in (False, True):
            bodies = (b'\xff\n{"id": 1.5}\n' if broken else body for _, body in sources)
            once(request, **{f"_{index}": body for index, body in enumerate(bodies)})
    once(GenerateRequest(task="fact-checking", generator="?"))


def _audit(once: Once, task: str, gold: bytes, inputs: bytes) -> None:
    """Run each part of the audit on gold alone, and with inputs and a training split that is the same gold.

    once: runs one job. task: the task's name.
    """
    for part in [*NAMES, "?"]:
        request = AuditPartRequest(task=task, part=part, gold_name="gold.jsonl", inputs_name="inputs.jsonl", seed=1)
        once(request, gold=gold)
        once(msgspec.structs.replace(request, train_names=["train.jsonl"]), gold=gold, inputs=inputs, _0=gold)


def _difference(once: Once, task: str, gold: bytes, broken: bytes) -> None:
    """Compare gold with corrected gold: with equal, fewer, more, rewritten, invalid and no lines, and compressed.

    once: runs one job. task: the task's name. broken: the invalid lines.
    """
    request = GoldDifferenceRequest(task=task, before_name="gold.jsonl", after_name="gold.jsonl")
    fewer, other = gold[: gold.rfind(b"\n", 0, -1) + 1] or gold, gold.replace(b"{", b'{"remark": 1, ', 1)
    for before, after in ((gold, gold), (gold, fewer), (fewer, gold), (gold, other), (gold, broken), (gold, b"")):
        once(request, before=before, after=after)
    packed = msgspec.structs.replace(request, before_name="gold.jsonl.gz")
    once(packed, before=gzip.compress(gold, mtime=0), after=gold)
