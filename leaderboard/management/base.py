"""Base class of the `manage.py` commands."""

from __future__ import annotations

from typing import Any

from django.core.management import base

from evaluator.options import refuse_repetition


class BaseCommand(base.BaseCommand):
    """A command whose options follow the rules of `evaluator.options`."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        """Return the command's parser, which takes no abbreviations."""
        return super().create_parser(prog_name, subcommand, **{"allow_abbrev": False, **kwargs})

    def add_base_argument(self, parser: base.CommandParser, *args: Any, **kwargs: Any) -> None:
        """Add one of Django's options. They are added before the command's own."""
        refuse_repetition(parser)
        super().add_base_argument(parser, *args, **kwargs)
