"""Client of a server's API, shared by the commands of `evaluator.cli.server` and by the class `Client` for Python."""
