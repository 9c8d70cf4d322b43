"""What the attacks of `evaluator.disclosure.attacks` learn of a test split under a disclosure policy.

The split's groups and slices are kept; its labels are not used. The attacks are on random balanced labels instead, one
a gold unit, so that every seed is another test set and what is learnt is known exactly. For rankings of scored items
and of entities, the numbers shown are those of the task's own measures; for all other tasks, the share of units that
are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evaluator.disclosure import attacks, bits
from evaluator.disclosure.attacks.target import LABELLING, Guess, Style, Target, balanced, ranking, retrieval
from evaluator.disclosure.policy import Kind, Policy
from evaluator.outcomes.table import Dimension, Numbers, Outcomes
from evaluator.progress import Steps
from evaluator.tasks.base import AnyTask, Options
from evaluator.tasks.fact_checking import measures as fact_checking
from evaluator.tasks.link_prediction import measures as link_prediction
from evaluator.tasks.metric_correlation import measures as metric_correlation
from evaluator.text import count_noun

_WITHOUT_SYSTEMS = tuple(measure for measure in metric_correlation.MEASURES if measure.requires is None)


def _scored_claims(guess: Guess, labels: Numbers) -> Mapping[str, Numbers]:
    return {"claim": np.ones(len(guess)), "positive": labels, "score": guess}


def _rated_texts(guess: Guess, labels: Numbers) -> Mapping[str, Numbers]:
    return {"text": np.ones(len(guess)), "human": labels, "score": guess}


def _answered_questions(guess: Guess, labels: Numbers) -> Mapping[str, Numbers]:
    rank = np.where(labels == 1, guess, np.nan)
    hits = {f"hits_{k}": (rank <= k).astype(np.float64) for k in link_prediction.CUTS}
    return {"question": np.ones(len(guess)), "reciprocal_rank": np.nan_to_num(1 / rank), **hits}


STYLES: Mapping[str, Style] = {
    "fact-checking": ranking(fact_checking.MEASURES, "auroc", _scored_claims),
    "metric-correlation": ranking(_WITHOUT_SYSTEMS, "spearman", _rated_texts),
    "link-prediction": retrieval(link_prediction.MEASURES, "mrr", _answered_questions),
}
"""Styles of tasks by name. A rating is high or low; of a question, one candidate is asked about."""


class _Rows:
    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes

    def total(self, statistic: str, /) -> Numbers:
        return self._outcomes.statistics[statistic]


def target_of(
    task: AnyTask,
    gold: Any,
    options: Options,
    *,
    policy: Policy,
    random: np.random.Generator,
    public_share: float = 1.0,
) -> Target:
    """Return a test set with the groups and slices of a gold and random labels, behind a policy.

    public_share: the share of the groups that are scored; they are chosen at random.
    """
    outcomes = task.score(gold, task.empty_answers(gold), options)
    primary = task.measure(task.primary(outcomes.facts))
    is_scored = primary.units.of(_Rows(outcomes)) > 0
    if public_share < 1:
        n_public = max(1, round(public_share * outcomes.n_groups))
        public = random.permutation(outcomes.n_groups)[:n_public]
        is_scored &= np.isin(outcomes.groups, public)
    rows = np.flatnonzero(is_scored)
    groups = np.unique(outcomes.groups[rows], return_inverse=True)[1].astype(np.int32)
    # Slices by label would be slices of what the attacks are to find out.
    by_label = task.label_keys[0] if task.label_keys else None
    return Target(
        labels=balanced(len(rows), random),
        groups=groups,
        dimensions={
            name: Dimension(dimension.codes[rows], dimension.values, dimension.declared, dimension.within_groups)
            for name, dimension in outcomes.dimensions.items()
            if name != by_label
        },
        policy=policy,
        style=STYLES.get(task.name, LABELLING),
        cross=options["cross"],
    )


def audit_disclosure(
    task: AnyTask,
    gold: Any,
    options: Options,
    *,
    policy: Policy,
    answers: int,
    teams: int = 1,
    public_share: float = 1.0,
    seeds: int = 3,
    seed: int = 0,
) -> dict[str, Any]:
    """Return what each attack learns of a test split, as plain JSON values.

    answers: the number of answers of each team. seeds: how many test sets with random labels each attack is tried on;
    seed: their first. The keys: `labels`, `groups` and `slices` are numbers of what is scored and shown; `attacks` has
    a row for each attack, with means over the seeds of `known` (the share of the labels that it knows beyond guessing,
    .5 being all), `excess` (shown minus true value of the best shown primary score) and `answers`, the largest `known`
    and `excess` of a seed, and `bound`, the largest that the account in bits states. `best` is the row with the most
    `known`, None in a sealed phase.
    """
    progress = Steps(len(attacks.ATTACKS) * seeds)
    rows: list[dict[str, Any]] = []
    target = target_of(
        task, gold, options, policy=policy, random=np.random.default_rng(seed), public_share=public_share
    )
    for name in attacks.ATTACKS:
        runs = []
        for each in range(seed, seed + seeds):
            if policy.kind != Kind.SEALED and attacks.suits(name, target.known):
                random = np.random.default_rng(each)
                attacked = target_of(task, gold, options, policy=policy, random=random, public_share=public_share)
                attacked.teams = teams
                runs.append((attacks.run(name, attacked, answers * teams, random), attacked.bound()))
            progress.add(1)
        if runs:
            rows.append(_row(name, [learnt for learnt, _ in runs], max(bound for _, bound in runs)))
    return {
        "task": task.name,
        "policy": asdict(policy),
        "answers": answers,
        "teams": teams,
        "public_share": public_share,
        "labels": target.known.n,
        "groups": target.n_groups,
        "slices": len(target.known.slices),
        "attacks": rows,
        "best": max(rows, key=lambda row: row["known"], default=None),
    }


def _row(name: str, runs: Sequence[attacks.Learnt], bound: float) -> dict[str, Any]:
    known, excess = [run.known for run in runs], [run.excess for run in runs]
    return {
        "attack": name,
        "answers": max(run.answers for run in runs),
        "known": float(np.mean(known)),
        "most_known": max(known),
        "excess": float(np.mean(excess)),
        "most_excess": max(excess),
        "bound": bound,
    }


def render_text(report: Mapping[str, Any]) -> str:
    """Return a report as text for a terminal: a table of the attacks, and what they mean in one sentence."""
    shown = count_noun(report["slices"], "slice")
    head = (
        f"{report['task']}: {count_noun(report['labels'], 'label')} in {count_noun(report['groups'], 'group')}, {shown}"
    )
    head += f"\n{settings_in_words(report)}"
    if not report["attacks"]:
        return f"{head}\n\n{sentence(report)}"
    lines = [f"{'attack':24}{'answers':>9}{'learnt':>9}{'shown - true':>14}{'bound':>8}"]
    lines += [
        f"{row['attack']:24}{row['answers']:9}{row['known']:9.3f}{row['excess']:+14.3f}{row['bound']:8.3f}"
        for row in report["attacks"]
    ]
    return f"{head}\n\n" + "\n".join(lines) + f"\n\n{sentence(report)}"


def settings_in_words(report: Mapping[str, Any]) -> str:
    """Return the settings under which the attacks ran, as in `full, rounded scores, slices of 25 groups or more`."""
    policy = report["policy"]
    detailed = "all answers" if policy["detailed_answers"] is None else count_noun(policy["detailed_answers"], "answer")
    return ", ".join(
        (
            policy["kind"],
            "exact scores" if policy["exact"] else "rounded scores",
            f"slices of {count_noun(policy['least_groups'], 'group')} or more",
            f"{detailed} in detail",
            f"{count_noun(report['teams'], 'team')} with {count_noun(report['answers'], 'answer')} each",
        )
    )


def sentence(report: Mapping[str, Any]) -> str:
    """Return what a determined participant would learn, in plain words."""
    best = report["best"]
    if best is None:
        return "Nothing is learnt before the phase is opened: it shows no scores."
    who = "A determined participant" if report["teams"] == 1 else f"{report['teams']} teams together"
    right = f"{100 * (attacks.CHANCE + max(best['known'], 0)):.0f} %"
    bound = max(row["bound"] for row in report["attacks"])
    limit = (
        f"no answers of this kind let anybody know more than {100 * min(1, attacks.CHANCE + bound):.0f} %"
        if bound < bits.USEFUL
        else "there is no useful bound on what a better attack learns"
    )
    return (
        f"{who} would know {right} of the labels that are scored after {best['answers']} answers, where guessing knows "
        f"50 %; {limit}."
    )
