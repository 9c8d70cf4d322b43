"""What a generator is asked for, declared once: the command line makes flags of it, the site's desk a form."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from evaluator.errors import shown

_WHOLE = re.compile(r"[0-9]{1,18}")


class Secret(str):
    """An argument that the recipe leaves out: a salt."""

    __slots__ = ()


class Kind(Enum):
    """What a parameter's value is."""

    TEXT = "text"
    WHOLE = "whole"  # a whole number from `lowest`
    CHOICE = "choice"  # one of `choices`
    SEVERAL = "several"  # texts, between commas
    KEYS = "keys"  # texts; on the command line a flag that may be repeated
    YES = "yes"  # true where it is given
    SECRET = "secret"  # noqa: S105 - a salt: never recorded, and on the desk drawn by the server


class ParameterError(ValueError):
    """A text that is no value of a parameter, as `is ..., expected ...`."""


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    name: as in `recipe.json`; its flag has hyphens for underlines. title: its label on a form. help: one line, for
    both, without the default, which each tells in its own way. default: the value where none is given, read already.
    lowest, highest: of a WHOLE. desk: whether the site asks for it.
    """

    name: str
    kind: Kind
    title: str
    help: str
    default: Any = None
    lowest: int = 0
    highest: int | None = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    required: bool = False
    desk: bool = True

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def otherwise(self) -> Any:
        """The value where nothing is given."""
        if self.kind is Kind.YES:
            return False
        return list(self.default) if isinstance(self.default, list) else self.default

    @property
    def otherwise_text(self) -> str:
        """The same as a field or a flag would have it; empty where there is none to tell."""
        value = self.otherwise
        if isinstance(value, list):
            return ",".join(map(str, value))
        return "" if value is None or value is False else str(value)

    def read(self, text: str) -> Any:
        """The value that one text stands for. Raises ParameterError."""
        if self.kind is Kind.WHOLE:
            return _whole(text, self.lowest, self.highest)
        if self.kind is Kind.CHOICE and text not in self.choices:
            raise ParameterError(f"is {shown(text)}, expected one of {', '.join(self.choices)}")
        if self.kind is Kind.SEVERAL:
            return self._listed(text.split(","))
        return Secret(text) if self.kind is Kind.SECRET else text

    def _listed(self, texts: Sequence[str]) -> list[str]:
        if self.choices and (other := next((text for text in texts if text not in self.choices), None)) is not None:
            raise ParameterError(f"has {shown(other)}, expected some of {', '.join(self.choices)}")
        return list(texts)

    def filled(self, text: str) -> Any:
        """The same for a field of a form: nothing filled in is the default; KEYS stand between commas."""
        text = text.strip()
        if self.kind is Kind.YES:
            return bool(text)
        if not text:
            if self.required:
                raise ParameterError("is empty, expected a value")
            return self.otherwise
        if self.kind is Kind.KEYS:
            return [key for part in text.split(",") if (key := part.strip())]
        if self.kind is Kind.SEVERAL:
            text = ",".join(part.strip() for part in text.split(","))
        return self.read(text)

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """The flag."""
        told = f"; {self.otherwise_text} unless said" if self.otherwise_text else ""
        named: dict[str, Any] = {"help": self.help + told}
        if self.kind is Kind.YES:
            parser.add_argument(self.flag, action="store_true", **named)
            return
        named |= {"required": self.required, "default": self.default, "metavar": self.metavar}
        if self.kind is Kind.KEYS:
            parser.add_argument(self.flag, action="append", **{**named, "default": list(self.otherwise or [])})
        elif self.kind is Kind.CHOICE:
            parser.add_argument(self.flag, choices=self.choices, **named)
        else:
            parser.add_argument(self.flag, type=self._from_flag, **named)

    def _from_flag(self, text: str) -> Any:
        try:
            return self.read(text)
        except ParameterError as error:
            raise argparse.ArgumentTypeError(str(error)) from None


@dataclass(frozen=True)
class Source:
    """A file, or several, that a generator reads.

    name: as the generator asks for it. flag: how it is given; empty: by its place. repeated: a flag may be given
    several times, where `several`; else it takes several files. desk: whether the site asks for it.
    """

    name: str
    title: str
    help: str
    flag: str = ""
    several: bool = False
    repeated: bool = False
    required: bool = True
    desk: bool = True

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        told: dict[str, Any] = {"type": Path, "help": self.help}
        if self.several and not self.required:
            told["default"] = []
        if self.several:
            told |= {"action": "append"} if self.repeated else {"nargs": "+"}
        if self.flag:
            parser.add_argument(self.flag, required=self.required, **told)
        else:
            parser.add_argument(self.name, **told)


def _whole(text: str, lowest: int, highest: int | None) -> int:
    if not _WHOLE.fullmatch(text) or int(text) < lowest or (highest is not None and int(text) > highest):
        upto = "" if highest is None else f" to {highest}"
        raise ParameterError(f"is {shown(text)}, expected a whole number from {lowest}{upto}")
    return int(text)
