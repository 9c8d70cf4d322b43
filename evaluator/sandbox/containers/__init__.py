"""The rooms behind `evaluator.sandbox.docker` and `evaluator.sandbox.images`. Only `engine` imports Docker's client."""
