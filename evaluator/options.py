"""The parser of all commands: no argument of a command line silently replaces another.

An option that may be repeated (`action="append"`, or `action="extend"` if it takes several values) accumulates. Any
other is refused when it is given twice, and so is one value, or one file, given twice. Options are not abbreviated, so
that a new option never changes what a script means.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that follows the rules of this module. Its subcommands' parsers are to be of this class."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})
        refuse_repetition(self)


def refuse_repetition(parser: argparse.ArgumentParser) -> None:
    """Let the options that are added to the parser from here on follow the rules of this module."""
    for name, action in _ACTIONS.items():
        parser.register("action", name, action)


class _Once(argparse.Action):
    """Mixin of actions that are allowed once on a command line."""

    _namespace: argparse.Namespace | None = None  # of the last command line with this option: one parser may parse many

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None
    ) -> None:
        if flag is not None and self._namespace is namespace:
            raise argparse.ArgumentError(None, f"{'/'.join(self.option_strings)} is given twice, expected once")
        self._namespace = namespace
        if isinstance(values, list):
            _refuse_equal(self, values)
        super().__call__(parser, namespace, values, flag)


class _Accumulated(argparse.Action):
    """Mixin of actions that append to a list."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None
    ) -> None:
        super().__call__(parser, namespace, values, flag)
        _refuse_equal(self, getattr(namespace, self.dest))


class _Store(_Once, argparse._StoreAction):
    pass


class _StoreConst(_Once, argparse._StoreConstAction):
    pass


class _StoreTrue(_Once, argparse._StoreTrueAction):
    pass


class _StoreFalse(_Once, argparse._StoreFalseAction):
    pass


class _YesOrNo(_Once, argparse.BooleanOptionalAction):
    pass


class _Append(_Accumulated, argparse._AppendAction):
    pass


class _Extend(_Accumulated, argparse._ExtendAction):
    pass


_ACTIONS: dict[Any, type[argparse.Action]] = {
    None: _Store,
    "store": _Store,
    "store_const": _StoreConst,
    "store_true": _StoreTrue,
    "store_false": _StoreFalse,
    argparse.BooleanOptionalAction: _YesOrNo,
    "append": _Append,
    "extend": _Extend,
}


def _refuse_equal(action: argparse.Action, values: Iterable[Any]) -> None:
    """Raise ArgumentError if two values of an argument are equal, or are paths of one file."""
    seen = set()
    for value in values:
        same = os.path.realpath(value) if isinstance(value, Path) else value
        if same in seen:
            raise argparse.ArgumentError(action, f"{value} is given twice, expected once")
        seen.add(same)
