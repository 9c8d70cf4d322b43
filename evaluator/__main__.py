"""`python -m evaluator`: the command line."""

from evaluator.cli.main import run

if __name__ == "__main__":
    run()
