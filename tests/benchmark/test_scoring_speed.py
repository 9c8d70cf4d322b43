"""Time and memory of scoring facts and claims by size, from files in memory to scores: printed, not asserted.

Run with `pytest tests/benchmark/test_scoring_speed.py -m benchmark -s`. They are compared, by turns in one run, with
the plain loops of the tests' oracles, and with the papers' evaluators if TEST_PAPERS_EVALUATORS names a folder
that has them: `dataset/evaluator.py` of diffbot/knowledge-net as `knowledgenet.py`, and `src/fever/scorer.py` of
sheffieldnlp/fever-scorer (which imports six) as `fever.py`.
"""

import contextlib
import importlib.util
import io
import json
import os
import random
import tempfile
from pathlib import Path

import pytest

from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import to_bytes
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.registry import TASKS
from tests.benchmark.support.measuring import SIZES, compared, grown, median, timed
from tests.evaluator.tasks.fact_verification import fv_oracle
from tests.evaluator.tasks.knowledge_base_population import kbp_oracle

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the published files in ../shared/data"),
]
PAPERS = os.environ.get("TEST_PAPERS_EVALUATORS", "")
LIMITS = {"file_bytes": 1 << 30}
FACTS = TASKS["knowledge-base-population"]


def files_of_facts(size):
    """Return gold of folds 1-4 `size` times, and predictions: a third of the facts missing, a third changed."""
    gold, predictions = [], []
    for copy in range(size):
        draw = random.Random(copy)
        for line in (DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl").open():
            document = json.loads(line)
            document["documentId"] = f"{copy}-{document['documentId']}"
            gold.append(json.dumps(document))
            for passage in document["passages"]:
                facts = [changed(fact, draw) for fact in passage["facts"] if draw.random() > 0.33]
                answer = {"documentId": document["documentId"], "passageId": passage["passageId"], "facts": facts}
                predictions.append(json.dumps(answer))
    return tuple("\n".join(lines).encode() for lines in (gold, predictions))


def changed(fact, draw):
    copied = {key: fact[key] for key in kbp_fields(fact)}
    if draw.random() < 0.33:
        shift = draw.randrange(-3, 30)
        copied |= {
            "objectStart": copied["objectStart"] + shift,
            "objectEnd": copied["objectEnd"] + shift,
            "objectUri": "Q0",
        }
    return copied


def kbp_fields(fact):
    return [key for key in fact if key.startswith(("subject", "object", "propertyId")) and not key.endswith("Text")]


def facts_scored(size):
    """Return timers (parsed to scores, bytes to scores, reading gold, reading predictions) and the number of facts."""
    gold_file, prediction_file = files_of_facts(size)
    options = FACTS.parse_options({})

    def gold():
        return FACTS.read_gold(io.BytesIO(gold_file), "gold", options)

    def answers(known):
        return FACTS.read_predictions(io.BytesIO(prediction_file), "predictions", known, options)

    def score(gold, answers):
        return score_outcomes(FACTS.score(gold, answers, options), FACTS.measures, resamples=0)

    def whole():
        read = gold()
        return score(read, answers(FACTS.validation_data(read)))

    read = gold()
    known = FACTS.validation_data(read)
    read_answers = answers(known)
    n = next(row.n for row in score(read, read_answers) if row.measure == "text_recall" and not row.slice)
    return [median(lambda: score(read, read_answers)), median(whole), median(gold), median(lambda: answers(known))], n


def facts_by_hand():
    gold, predictions = ([json.loads(line) for line in file.splitlines()] for file in files_of_facts(1))
    return timed(lambda: kbp_oracle.score(gold, predictions))


def test_knowledgenet_all_folds(in_new_process):
    firsts = None
    for size in SIZES:
        timers, n = in_new_process(facts_scored, size)
        firsts = firsts or timers
        print(f"\n  {n:,} gold facts, three modes, micro, macro and per property")
        names = ("parsed files to scores", "bytes to scores", "  of which gold", "  of which predictions")
        for name, timer, first in zip(names, timers, firsts, strict=True):
            print(f"    {name}, {grown(timer, first, size)}")
    print(f"  plain loops in this run, parsed: {in_new_process(facts_by_hand)}")


def facts_with_papers_evaluator(folder):
    gold, predictions = files_of_facts(1)
    options = FACTS.parse_options({})

    def ours():
        read = FACTS.read_gold(io.BytesIO(gold), "gold", options)
        known = FACTS.validation_data(read)
        answers = FACTS.read_predictions(io.BytesIO(predictions), "predictions", known, options)
        score_outcomes(FACTS.score(read, answers, options), FACTS.measures, resamples=0)

    paper = module(folder, "knowledgenet")
    with tempfile.TemporaryDirectory() as written, Path(os.devnull).open("w") as nowhere:
        paths = [Path(written) / "gold.jsonl", Path(written) / "predictions.jsonl"]
        paths[0].write_bytes(gold)
        facts = {}
        for line in map(json.loads, predictions.splitlines()):
            facts[line["documentId"], line["passageId"]] = line["facts"]
        documents = [json.loads(line) for line in gold.splitlines()]
        for document in documents:
            for passage in document["passages"]:
                passage["facts"] = facts[document["documentId"], passage["passageId"]]
        paths[1].write_text("\n".join(map(json.dumps, documents)))

        def theirs():
            for mode in ("span_overlap", "span_exact", "uri"):
                read, properties = paper.readKnowledgenetFile(paths[0], -1)
                answers, _ = paper.readKnowledgenetFile(paths[1], -1, properties)
                if mode == "uri":
                    read, properties = paper.filterForURIEvaluation(read)
                    answers, _ = paper.filterForURIEvaluation(answers)
                matrix, _ = paper.evaluate(read, answers, mode, properties)
                with contextlib.redirect_stdout(nowhere):
                    paper.microEvaluation(matrix, False)
                    paper.macroEvaluation(matrix)

        return compared(ours, theirs)


def module(folder, name):
    """Return a paper's evaluator as a module."""
    spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.skipif(not PAPERS, reason="needs TEST_PAPERS_EVALUATORS, a folder with the papers' evaluators")
def test_papers_evaluators(in_new_process):
    facts = in_new_process(facts_with_papers_evaluator, PAPERS)
    print(f"\n  KnowledgeNet's evaluator, folds 1-4, files to scores of three modes: {facts}")
    claims = in_new_process(claims_with_papers_scorer, PAPERS)
    print(f"  FEVER's scorer, 9,999 claims, bytes to scores: {claims}")


def facts_resampled(size):
    gold_file, prediction_file = files_of_facts(size)
    options = FACTS.parse_options({})
    gold = FACTS.read_gold(io.BytesIO(gold_file), "gold", options)
    answers = FACTS.read_predictions(io.BytesIO(prediction_file), "predictions", FACTS.validation_data(gold), options)
    outcomes = FACTS.score(gold, answers, options)
    scores = score_outcomes(outcomes, FACTS.measures, resamples=2)
    timer = median(lambda: score_outcomes(outcomes, FACTS.measures, resamples=1000), times=3)
    return timer, len(scores), len(to_bytes(outcomes))


def test_knowledgenet_resamples(in_new_process):
    first = None
    print()
    for size in SIZES:
        timer, n_scores, stored = in_new_process(facts_resampled, size)
        first = first or timer
        print(f"  1,000 resamples of {n_scores} scores ({stored:,} bytes of outcomes), {grown(timer, first, size)}")


def files_of_claims(size):
    """Return 9,999 claims and a real system's predictions, `size` times, not parsed yet."""
    files = []
    for name in ("gold_paper_dev.jsonl", "predictions/real_predictions.jsonl"):
        lines = [json.loads(line) for line in (DATA / "fever" / name).open()]
        copies = (
            {**line, "id": f"{copy}-{line['id']}"} if size > 1 else line for copy in range(size) for line in lines
        )
        files.append("\n".join(map(json.dumps, copies)).encode())
    return files


def claims_scored(size, resamples):
    gold, predictions = files_of_claims(size)

    def work():
        report, _ = JOBS["score"](
            {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)},
            {
                "task": "fact-verification",
                "gold_name": "g",
                "predictions_name": "p",
                "resamples": resamples,
                "limits": LIMITS,
            },
        )
        assert report["ok"]

    return median(work)


def claims_by_hand():
    files = files_of_claims(1)
    return median(lambda: fv_oracle.score(*([json.loads(line) for line in file.splitlines()] for file in files)))


def claims_with_papers_scorer(folder):
    gold, predictions = files_of_claims(1)
    paper = module(folder, "fever")
    arguments = {
        "task": "fact-verification",
        "gold_name": "g",
        "predictions_name": "p",
        "resamples": 0,
        "limits": LIMITS,
    }

    def ours():
        JOBS["score"]({"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)}, arguments)

    def theirs():
        read = {line["id"]: line for line in map(json.loads, gold.splitlines())}
        answers = [json.loads(line) for line in predictions.splitlines()]
        paper.fever_score(answers, [read[line["id"]] for line in answers])

    return compared(ours, theirs)


@pytest.mark.parametrize("resamples", [0, 1000])
def test_fever_bytes_to_scores(in_new_process, resamples):
    first = None
    print(f"\n  1x: 9,999 claims with evidence, bytes to scores, {resamples} resamples")
    for size in SIZES:
        timer = in_new_process(claims_scored, size, resamples)
        first = first or timer
        print(f"    {grown(timer, first, size)}")
    if not resamples:
        print(f"  json.loads and plain loops in this run: {in_new_process(claims_by_hand)}")


def wrong_lines(n):
    gold, _ = files_of_facts(1)
    wrong = b'{"documentId": "no such document", "passageId": "p", "facts": []}\n' * n

    def work():
        report, _ = JOBS["score"](
            {"gold": io.BytesIO(gold), "predictions": io.BytesIO(wrong)},
            {"task": FACTS.name, "gold_name": "g", "predictions_name": "p"},
        )
        assert report["more"] == n - 100

    return timed(work)


def test_a_large_wrong_file(in_new_process):
    print(f"\n  200,000 wrong lines: {in_new_process(wrong_lines, 200_000)}")
