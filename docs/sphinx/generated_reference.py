"""Sphinx extension: the parts of the reference that are made from the code.

They are the commands, the HTTP API, and lists of fields in docstrings. Links that are file names get the page's title.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import re
from collections.abc import Iterator
from http import HTTPStatus
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
    """All calls of the HTTP API and the objects that they take and return, from its OpenAPI schema."""

    def lines(self) -> Iterator[str]:
        """Yield a section for each group of calls, then one for the objects."""
        import django

        django.setup()
        from leaderboard.core.api.samples import GROUPS
        from leaderboard.core.api.schema import schema

        paths, objects = schema()["paths"], schema()["components"]["schemas"]
        calls = [
            (path, method.upper(), call)
            for path, methods in paths.items()
            for method, call in methods.items()
            if not call.get("deprecated")
        ]
        for group in GROUPS:
            members = [call for call in calls if call[2]["tags"] == [group]]
            if members:
                yield from (f"## {group}", "")
            for path, method, call in members:
                yield from _call(path, method, call, objects)
        yield from ("## Objects", "")
        for name, part in sorted(objects.items()):
            if name != BLANK:
                yield from _object(name, part)


BLANK = "BlankEnum"
"""Name of the object with which the generator says that an enumeration may be empty."""
TITLE = re.compile(r"(?:[^.;:,(\n]|\.(?=\d))*")
"""The part of a call's description that is its title."""
ENUMERATION = re.compile(r"(?:^|\n\n)\* `.*", re.DOTALL)
"""The list of an enumeration's values, which the generator appends to a description; it says nothing more."""


def _call(path: str, method: str, call: dict[str, Any], objects: dict[str, Any]) -> Iterator[str]:
    """Yield the section of one HTTP method at one path. objects: name -> object of the schema."""
    text = str(call.get("description") or call["operationId"])
    title = TITLE.match(text)[0].strip()  # type: ignore[index]  # it matches any text
    yield from (f"### {title.replace('`', '')}", "", "```text", f"{method} {path}", "```", "")
    yield from (ENUMERATION.sub("", text.removeprefix(f"{title}.")).strip(), "")
    security = call.get("security")
    access = "No token needed" if security is None else "Token optional" if {} in security else "Token needed"
    yield from (f"{access}.", "")
    fields = [
        (part["name"], part["schema"], part.get("description", ""), _note(part))
        for part in sorted(
            call.get("parameters", ()), key=lambda part: (part["in"] != "path", not part.get("required"))
        )
        if not part.get("deprecated")
    ]
    content = call.get("requestBody", {}).get("content", {})
    for body in [name for name in ("application/json", "multipart/form-data") if name in content][:1]:
        # The generator describes an uploaded file by the type of its address.
        whole = _resolved(content[body]["schema"], objects)
        fields += [
            (name, {**part, "format": "file"} if part.get("format") == "uri" else part, *rest)
            for name, part, *rest in _fields(whole)
        ]
    yield from _table(fields, "parameter")
    for status, response in call["responses"].items():
        kinds = response.get("content", {})
        if status < "400":
            whole = kinds.get("application/json", {}).get("schema")
            yield f"- {status}: {_type(whole)[0] if whole else next(iter(kinds), 'no content')}"
        else:
            words = response.get("description", "").removeprefix("Codes: ")
            yield f"- {status} {HTTPStatus(int(status)).phrase if status != '460' else 'Checksum mismatch'}" + (
                f": {words}" if words else ""
            )
    yield ""
    for sample in call["x-codeSamples"]:
        yield from (f"```{sample['lang'].lower()}", *sample["source"].splitlines(), "```", "")
    for response in call["responses"].values():
        example = response.get("content", {}).get("application/json", {}).get("example")
        if example is not None:
            yield from ("```json", *json.dumps(example, indent=2, ensure_ascii=False).splitlines(), "```", "")


def _object(name: str, part: dict[str, Any]) -> Iterator[str]:
    yield from (f'<span id="object-{name}"></span>', "", f"### {name.removesuffix('Enum')}", "")
    yield from (ENUMERATION.sub("", part.get("description", "")), "")
    if values := [f"`{value}`" for value in part.get("enum", ()) if value != ""]:
        yield from (f"One of {', '.join(values)}.", "")
    yield from _table(_fields(part), "field")


Field = tuple[str, dict[str, Any], str, str]
"""Name, schema, description and note, such as "required", of a parameter or of a field of an object."""


def _fields(part: dict[str, Any]) -> list[Field]:
    required = part.get("required", ())
    return [
        (name, field, field.get("description", ""), "required" if name in required else "")
        for name, field in part.get("properties", {}).items()
        if not field.get("deprecated")
    ]


def _table(fields: list[Field], title: str) -> Iterator[str]:
    if not fields:
        return
    yield from (f"| {title} | type | meaning |", "|---|---|---|")
    for name, part, text, note in fields:
        kind, notes = _type(part)
        words = ", ".join(filter(None, (note, *notes)))
        meaning = " · ".join(filter(None, (words, " ".join(ENUMERATION.sub("", text).split()))))
        yield f"| `{name}` | {kind} | {meaning.replace('|', '&#124;')} |"
    yield ""


def _type(part: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the type that a part of the schema describes, with a link if it is an object, and notes about it."""
    inner = part.get("items", part) if part.get("type") == "array" else part
    choices = (inner, *inner.get("allOf", ()), *inner.get("oneOf", ()))
    references = [choice["$ref"].rpartition("/")[2] for choice in choices if "$ref" in choice]
    link = next((name for name in references if name != BLANK), "")
    kind = inner.get("type") if inner.get("type") in ("number", "object") else inner.get("format")
    kind = (
        f'<a href="#object-{link}">{link.removesuffix("Enum")}</a>'
        if link
        else kind or inner.get("type") or "any value"
    )
    notes = ["or null"] if part.get("nullable") else []
    notes += ["or empty"] if BLANK in references else []
    notes += [f"one of {', '.join(str(value) for value in inner['enum'] if value != '')}"] if "enum" in inner else []
    notes += [f"default {part['default']}"] if part.get("default") not in (None, "") else []
    return (f"list of {kind}" if inner is not part else kind), notes


def _note(part: dict[str, Any]) -> str:
    return "in the path" if part["in"] == "path" else "required" if part.get("required") else ""


def _resolved(part: dict[str, Any], objects: dict[str, Any]) -> dict[str, Any]:
    """Return the object to which a part of the schema refers by $ref; without a $ref, the part itself."""
    found: dict[str, Any] = objects[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    return found
