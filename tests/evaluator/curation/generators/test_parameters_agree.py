"""A generator's parameters are declared once: the command line and the form on the management pages agree."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.cli import curation
from evaluator.cli.main import main
from evaluator.curation.generators.base import Generator
from evaluator.curation.generators.catalog import OFFERS, Offer, generators_for, namespace, parse_form
from evaluator.curation.generators.parameters import Kind, Parameter, ParameterError
from evaluator.curation.generators.recipe import parameters
from evaluator.errors import UsageError
from evaluator.jobs import JOBS
from evaluator.jobs.generate import GenerateRequest, generate
from evaluator.jobs.warmup import GENERATOR_SAMPLES
from evaluator.tasks.registry import TASKS

SALT = "long enough to be one"
FILLED = {
    "holdout": {"parts": "a=0.25,b=0.75", "by": "id", "stratify": "label, origin"},
    "folds": {"by": "documentId", "folds": "4", "parts": "train=1-3,test=4", "mark": "fold"},
    "scenarios": {
        "relation": "P27",
        "size": "20",
        "ratio": "0.5",
        "transparency": "0, 0.5,1",
        "popularity": "popular,random",
        "plausible": "closed-world",
        "pairs_once": "yes",
    },
}
ON_BOTH = [offer for offer in OFFERS.values() if offer.generator in curation.SPLITS]


def parse(generator: Generator, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    generator.add_to(parser)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(words)


def command_line_of(offer: Offer, texts: dict[str, str]) -> list[str]:
    """The parameters as command line arguments."""
    arguments: list[str] = []
    for source in offer.generator.sources:
        if source.required:
            arguments += [source.flag, f"{source.name}.txt"] if source.flag else [f"{source.name}.txt"]
    for parameter in offer.generator.parameters:
        text = SALT if parameter.kind is Kind.SECRET else texts.get(parameter.name, "")
        if parameter.kind is Kind.FLAG:
            arguments += [parameter.flag] if text else []
        elif parameter.kind is Kind.KEYS:
            arguments += [word for key in text.split(",") if key for word in (parameter.flag, key.strip())]
        elif text:
            arguments += [parameter.flag, text.replace(", ", ",")]
    return arguments


@pytest.mark.parametrize("offer", ON_BOTH, ids=lambda offer: offer.name)
@pytest.mark.parametrize("full", [True, False])
def test_the_form_and_the_command_line_give_equal_parameters(offer: Offer, full: bool) -> None:
    texts = FILLED.get(offer.name, {}) if full else {"relation": "P27"} if offer.name == "scenarios" else {}
    files = {source.name: [Path(f"{source.name}.txt")] for source in offer.generator.sources if source.required}
    from_command_line = parse(offer.generator, command_line_of(offer, texts))
    from_form = namespace(offer, texts, files, seed=0, salt=SALT)
    assert parameters(from_command_line) == parameters(from_form)
    for source in offer.generator.sources:
        assert getattr(from_command_line, source.name) == getattr(from_form, source.name)


@pytest.mark.parametrize("offer", OFFERS.values(), ids=lambda offer: offer.name)
def test_initial_values_of_a_form_equal_the_command_lines_defaults(offer: Offer) -> None:
    for task in offer.tasks or TASKS:
        texts = {parameter.name: offer.default(parameter, task) for parameter in offer.parameters}
        values, wrong = parse_form(offer, texts)
        assert set(wrong) <= {parameter.name for parameter in offer.parameters if parameter.required}
        own = {
            parameter.name: parameter.default_value
            for parameter in offer.parameters
            if parameter.name not in offer.defaults(TASKS[task])
        }
        assert {name: values[name] for name in own if name not in wrong} == {
            name: value for name, value in own.items() if name not in wrong
        }


def test_every_task_has_generators_and_every_generator_a_sample() -> None:
    assert all(generators_for(task) for task in TASKS)
    assert {generator for _, generator, _, _ in GENERATOR_SAMPLES} == set(OFFERS)


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        ("folds", {"folds": "1"}, "a whole number from 2 to 1000"),
        ("folds", {"folds": "five"}, "a whole number from 2 to 1000"),
        ("folds", {"folds": "1000000000"}, "a whole number from 2 to 1000"),
        ("scenarios", {"relation": ""}, "is empty"),
        ("scenarios", {"relation": "p", "plausible": "maybe"}, "walks, closed-world"),
    ],
)
def test_an_invalid_value_is_refused_by_both(name: str, texts: dict[str, str], message: str) -> None:
    offer = OFFERS[name]
    _, wrong = parse_form(offer, texts)
    assert message in next(iter(wrong.values()))
    files = {source.name: [Path("x")] for source in offer.sources if source.required}
    with pytest.raises(UsageError, match="expected"):
        namespace(offer, texts, files, seed=1, salt=SALT)
    with pytest.raises((argparse.ArgumentError, SystemExit)):
        parse(offer.generator, command_line_of(offer, texts))


WHOLE = Parameter("n", Kind.WHOLE, "N", "a number", default=3, lowest=2)


@given(st.integers(0, 10**17))
def test_a_whole_number_is_parsed_exactly(number: int) -> None:
    if number >= 2:
        assert WHOLE.read(str(number)) == WHOLE.parse_form_field(f" {number} ") == number
    else:
        with pytest.raises(ParameterError):
            WHOLE.read(str(number))


@given(st.text(max_size=20))
def test_only_digits_are_a_whole_number(text: str) -> None:
    try:
        assert str(WHOLE.read(text)) == text.lstrip("0") and text.isascii()
    except ParameterError as error:
        assert "expected a whole number from 2" in str(error)


@given(st.lists(st.text("abc_", min_size=1), min_size=1, max_size=5))
def test_keys_between_commas_equal_repeated_flags(keys: list[str]) -> None:
    parameter = Parameter("stratify", Kind.KEYS, "Even", "keys", default=[])
    parser = argparse.ArgumentParser()
    parameter.add_to(parser)
    typed = parser.parse_args([word for key in keys for word in ("--stratify", key)]).stratify
    assert parameter.parse_form_field(", ".join(keys)) == typed == keys


def run_generate(task: str, generator: str, texts: dict[str, str], **sources: bytes) -> tuple[dict[str, Any], bytes]:
    files = {str(i): io.BytesIO(body) for i, body in enumerate(sources.values())}
    named = [(role, f"{role}.txt") for role in sources]
    request = GenerateRequest(task=task, generator=generator, parameters=texts, sources=named, seed=3, salt=SALT)
    report, content = generate(files, request)
    return msgspec.to_builtins(report), content


def test_the_sandboxs_job_writes_the_same_bytes_as_the_command_line(tmp_path: Path) -> None:
    triples = b"".join(b"s%d\tr%d\to%d\n" % (i, i % 2, i % 3) for i in range(12))
    (tmp_path / "evaluation.txt").write_bytes(triples)
    out = tmp_path / "out"
    assert main(["split", "open-questions", str(tmp_path / "evaluation.txt"), "--output", str(out), "--seed", "3"]) == 0
    report, content = run_generate("link-prediction", "open-questions", {}, evaluation=triples)
    assert report["parts"] == [{"name": "evaluation", "bytes": len(content)}]
    assert content == (out / "evaluation.jsonl").read_bytes()


def questions_of(*sources: tuple[str, str, bytes]) -> tuple[list[dict[str, Any]], bytes]:
    """The parts and the bytes of questions generated from (role, name, content) sources."""
    files = {str(i): io.BytesIO(body) for i, (*_, body) in enumerate(sources)}
    arguments = {
        "generator": "open-questions",
        "parameters": {},
        "sources": [[role, name] for role, name, _ in sources],
    }
    report, content = JOBS["generate"](files, {"task": "link-prediction", **arguments, "seed": 3, "salt": SALT})
    return report["parts"], content


def test_two_files_with_one_name_are_distinct() -> None:
    evaluated, known = b"a\tr\tb\n", b"a\tr\tc\nd\tr\tb\n"
    separate = questions_of(("evaluation", "triples.txt", evaluated), ("known", "others.txt", known))
    assert questions_of(("evaluation", "triples.txt", evaluated), ("known", "triples.txt", known)) == separate
    assert questions_of(("evaluation", "triples.txt", evaluated)) != separate


def test_an_empty_part_is_omitted() -> None:
    some, none = b"a\tr\tb\n", b"?\tr\t?\n"  # no question can be asked about the mention "?"
    parts, content = questions_of(("evaluation", "some.txt", some), ("evaluation", "none.txt", none))
    assert [part["name"] for part in parts] == ["some"]
    assert content == questions_of(("evaluation", "some.txt", some))[1]


def test_parts_are_concatenated() -> None:
    lines = b"".join(b'{"id": "a%d", "facts": []}\n' % i for i in range(10))
    report, content = run_generate("fact-extraction", "holdout", {"parts": "train=0.3,test=0.7"}, gold=lines)
    sizes = [part["bytes"] for part in report["parts"]]
    assert sum(sizes) == len(content)
    pieces = [content[: sizes[0]], content[sizes[0] :]]
    assert [piece.count(b"\n") for piece in pieces] == [3, 7]
    assert sorted(b"".join(pieces).splitlines()) == sorted(lines.splitlines())


def test_a_generator_of_another_task_is_refused() -> None:
    with pytest.raises(UsageError, match="has no generator 'scenarios'; expected one of: as-it-is"):
        run_generate("metric-correlation", "scenarios", {"relation": "p"}, graph=b"a\tp\tb\n")


def test_the_command_lines_help_adds_the_default() -> None:
    for offer in OFFERS.values():
        parser = argparse.ArgumentParser()
        offer.generator.add_to(parser)
        helps = {action.dest: action.help or "" for action in parser._actions}
        for parameter in offer.generator.parameters:
            help_text = helps[parameter.name]
            assert parameter.default_text == "" or parameter.default_text not in parameter.help.split("; ")
            assert help_text.startswith(parameter.help)
            assert ("(default: " in help_text.removeprefix(parameter.help)) == bool(parameter.default_text)
