"""`python -m evaluator`: the `holdout-eval` command where it is not installed."""

from evaluator.cli.main import run

if __name__ == "__main__":
    run()
