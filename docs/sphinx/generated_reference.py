"""Sphinx extension: the parts of the reference that are made from the code.

They are the commands, the HTTP API, and lists of fields in docstrings. Links that are file names get the page's title.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives and event handlers."""
    app.add_directive("holdout-commands", HoldoutCommands)
    app.add_directive("manage-commands", ManageCommands)
    app.add_directive("http-api", HttpApi)
    app.connect("autodoc-process-docstring", list_fields)
    app.connect("doctree-resolved", name_links_by_title)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


FIELD = re.compile(r"([a-z]\w*(?:, [a-z]\w*)*): ")
FILE = re.compile(r"([\w./-]+)\.md$")


def list_fields(app: Sphinx, what: str, name: str, obj: object, *rest: Any) -> None:
    """Turn the lines of a docstring that begin with `name: ` into a list."""
    lines: list[str] = rest[-1]
    listed: list[str] = []
    for line in lines:
        if field := FIELD.match(line):
            starts_list = bool(listed) and not listed[-1].startswith(("- ", "  "))
            listed += [""] * starts_list + [f"- **{field[1]}**: {line[field.end() :]}"]
        elif listed and listed[-1].startswith(("- **", "  ")) and line and not line.startswith(" "):
            listed.append(f"  {line}")
        else:
            listed.append(line)
    lines[:] = listed


def name_links_by_title(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace the text of links such as `errors.md`, which suits readers of the files, by the page's title."""
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and (file := FILE.match(link.astext())):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(docname), file[1]))
            if target in app.env.titles:
                link.children = [nodes.Text(app.env.titles[target].astext())]


class Generated(SphinxDirective):
    """Base of directives whose content is Markdown with headings, made from the code."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse the Markdown at the directive's position."""
        container = nodes.Element()
        text = "\n".join(self.lines()).splitlines()
        self.state.nested_parse(StringList(text, self.env.docname), 0, container, match_titles=True)
        return container.children


class HoldoutCommands(Generated):
    """The help of each command of `holdout-eval`."""

    def lines(self) -> Iterator[str]:
        """Yield a section for each command, with its help."""
        # The width of the lines must not depend on the terminal that builds the pages.
        os.environ["COLUMNS"] = "100"
        from evaluator.cli.main import _parser

        yield from _help_of(_parser(), "holdout")


def _help_of(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    yield from ("```text", *parser.format_help().rstrip().splitlines(), "```", "")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, subparser in action.choices.items():
                yield from (f"## {name} {command}", "")
                yield from _help_of(subparser, f"{name} {command}")


class ManageCommands(Generated):
    """The site's own commands of `manage.py`, with the first sentence of their help."""

    def lines(self) -> Iterator[str]:
        """Yield a table."""
        import django
        from django.core.management import get_commands, load_command_class

        django.setup()
        yield from ("| command | does |", "|---|---|")
        for name, app in sorted(get_commands().items()):
            if app == "leaderboard":
                help_ = " ".join(load_command_class(app, name).help.split())
                yield f"| `{name}` | {help_.replace('|', chr(92) + '|')} |"


class HttpApi(Generated):
    """All calls of the HTTP API, from its OpenAPI schema."""

    def lines(self) -> Iterator[str]:
        """Yield a section for each group of calls."""
        import django

        django.setup()
        from leaderboard.core.api.reference import call_groups

        for group in call_groups().values():
            yield from (f"## {group.title}", "")
            for call in group.calls:
                yield from (f"### {call.title.rstrip('.')}", "")
                yield from ("```text", f"{call.method} {call.path}", "```", "", _flat(call.text), "")
                example = f"/api/v1/docs/{group.name}/#{call.id}"
                yield from (f'{call.access.capitalize()}. <a href="{example}">Examples and returned fields</a>', "")
                fields = [*call.parameters, *call.body]
                if fields:
                    yield from ("| parameter | type | meaning |", "|---|---|---|")
                    for field in fields:
                        note = " · ".join(part for part in (field.note, _flat(field.text)) if part)
                        yield f"| `{field.name}` | {field.type} | {note.replace('|', '&#124;')} |"
                    yield ""
                for status, kind, _ in call.results:
                    yield f"- {status}: {kind}"
                for status, phrase, codes in call.errors:
                    yield f"- {status} {phrase}" + (f": {', '.join(f'`{code}`' for code in codes)}" if codes else "")
                yield ""


def _flat(html: str) -> str:
    """Return HTML in one line, so that Markdown takes it as it is."""
    return re.sub(r"\s*\n\s*", " ", str(html)).strip()
