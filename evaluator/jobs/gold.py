"""Gold: is it well formed, what is in it, and which of its groups are public?"""

from evaluator.curation.splitting.halves import halves
from evaluator.jobs.base import Arguments, Files, Report, limits
from evaluator.jobs.halves_file import read_division, write_division
from evaluator.scoring.score import existing, score_outcomes
from evaluator.tasks.registry import find_task


def prepare_gold(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Is the gold well formed, and what does it hold? The attachment is the public inputs. files: gold."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options, limits(arguments))
    outcomes = task.score(gold, task.unanswered(gold), options)
    # Every score is taken once, so that a gold that cannot be scored is found before anybody submits.
    score_outcomes(outcomes, task.measures, cross=options["cross"], resamples=0)
    report = {
        "ok": True,
        "n_lines": gold.n_lines,
        "n_units": outcomes.n_units,
        "n_groups": outcomes.n_groups,
        "dimensions": {name: list(dimension.values) for name, dimension in outcomes.dimensions.items()},
        "measures": [measure.name for measure in existing(task.measures, outcomes.facts)],
        "primary": task.primary(outcomes.facts),
        "expects": task.facts(gold),
        "warnings": gold.warnings,
    }
    return report, task.public_inputs(gold)


def divide(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Public and private halves of a gold's groups; the attachment names the groups of each. files: gold, and where
    an earlier version was divided, its division as `kept`: groups that are still there keep their half."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options, limits(arguments))
    outcomes = task.score(gold, task.unanswered(gold), options)
    kept = read_division(files["kept"].read()) if "kept" in files else None
    made = halves(outcomes.group_names, seed=arguments["seed"], share=arguments["share"], kept=kept)
    report = {"ok": True, "n_public": len(made.public), "n_private": len(made.private)}
    return report, write_division(made)
