"""What a generator is asked for is declared once: the command line and the desk's form make the same of it."""

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


def parsed(generator: Generator, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    generator.add_to(parser)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(words)


def words_of(offer: Offer, texts: dict[str, str]) -> list[str]:
    """The same as a person types it at a command line."""
    words: list[str] = []
    for source in offer.generator.sources:
        if source.required:
            words += [source.flag, f"{source.name}.txt"] if source.flag else [f"{source.name}.txt"]
    for parameter in offer.generator.parameters:
        text = SALT if parameter.kind is Kind.SECRET else texts.get(parameter.name, "")
        if parameter.kind is Kind.YES:
            words += [parameter.flag] if text else []
        elif parameter.kind is Kind.KEYS:
            words += [word for key in text.split(",") if key for word in (parameter.flag, key.strip())]
        elif text:
            words += [parameter.flag, text.replace(", ", ",")]
    return words


@pytest.mark.parametrize("offer", ON_BOTH, ids=lambda offer: offer.name)
@pytest.mark.parametrize("full", [True, False])
def test_the_form_and_the_command_line_ask_alike(offer: Offer, full: bool) -> None:
    texts = FILLED.get(offer.name, {}) if full else {"relation": "P27"} if offer.name == "scenarios" else {}
    files = {source.name: [Path(f"{source.name}.txt")] for source in offer.generator.sources if source.required}
    there = parsed(offer.generator, words_of(offer, texts))
    here = namespace(offer, texts, files, seed=0, salt=SALT)
    assert parameters(there) == parameters(here)
    for source in offer.generator.sources:
        assert getattr(there, source.name) == getattr(here, source.name)


@pytest.mark.parametrize("offer", OFFERS.values(), ids=lambda offer: offer.name)
def test_what_a_form_begins_with_is_what_the_command_line_takes_for_granted(offer: Offer) -> None:
    for task in offer.tasks or TASKS:
        texts = {one.name: offer.default(one, task) for one in offer.parameters}
        values, wrong = parse_form(offer, texts)
        assert set(wrong) <= {one.name for one in offer.parameters if one.required}
        own = {one.name: one.default_value for one in offer.parameters if one.name not in offer.defaults(TASKS[task])}
        assert {name: values[name] for name in own if name not in wrong} == {
            name: value for name, value in own.items() if name not in wrong
        }


def test_every_task_has_generators_and_every_generator_a_sample() -> None:
    assert all(generators_for(task) for task in TASKS)
    assert {generator for _, generator, _, _ in GENERATOR_SAMPLES} == set(OFFERS)


@pytest.mark.parametrize(
    ("name", "texts", "told"),
    [
        ("folds", {"folds": "1"}, "a whole number from 2 to 1000"),
        ("folds", {"folds": "five"}, "a whole number from 2 to 1000"),
        ("folds", {"folds": "1000000000"}, "a whole number from 2 to 1000"),
        ("scenarios", {"relation": ""}, "is empty"),
        ("scenarios", {"relation": "p", "plausible": "maybe"}, "walks, closed-world"),
    ],
)
def test_what_is_no_value_is_told_on_both_sides(name: str, texts: dict[str, str], told: str) -> None:
    offer = OFFERS[name]
    _, wrong = parse_form(offer, texts)
    assert told in next(iter(wrong.values()))
    files = {source.name: [Path("x")] for source in offer.sources if source.required}
    with pytest.raises(UsageError, match="expected"):
        namespace(offer, texts, files, seed=1, salt=SALT)
    with pytest.raises((argparse.ArgumentError, SystemExit)):
        parsed(offer.generator, words_of(offer, texts))


WHOLE = Parameter("n", Kind.WHOLE, "N", "a number", default=3, lowest=2)


@given(st.integers(0, 10**17))
def test_a_whole_number_is_read_as_it_is_written(number: int) -> None:
    if number >= 2:
        assert WHOLE.read(str(number)) == WHOLE.filled(f" {number} ") == number
    else:
        with pytest.raises(ParameterError):
            WHOLE.read(str(number))


@given(st.text(max_size=20))
def test_nothing_but_digits_is_a_whole_number(text: str) -> None:
    try:
        assert str(WHOLE.read(text)) == text.lstrip("0") and text.isascii()
    except ParameterError as error:
        assert "expected a whole number from 2" in str(error)


@given(st.lists(st.text("abc_", min_size=1), min_size=1, max_size=5))
def test_keys_between_commas_are_the_flags_repeated(keys: list[str]) -> None:
    parameter = Parameter("stratify", Kind.KEYS, "Even", "keys", default=[])
    parser = argparse.ArgumentParser()
    parameter.add_to(parser)
    typed = parser.parse_args([word for key in keys for word in ("--stratify", key)]).stratify
    assert parameter.filled(", ".join(keys)) == typed == keys


def asked(task: str, generator: str, texts: dict[str, str], **sources: bytes) -> tuple[dict[str, Any], bytes]:
    files = {str(place): io.BytesIO(body) for place, body in enumerate(sources.values())}
    named = [(role, f"{role}.txt") for role in sources]
    request = GenerateRequest(task=task, generator=generator, parameters=texts, sources=named, seed=3, salt=SALT)
    report, made = generate(files, request)
    return msgspec.to_builtins(report), made


def test_the_sandboxs_job_makes_the_bytes_of_the_command_line(tmp_path: Path) -> None:
    triples = b"".join(b"s%d\tr%d\to%d\n" % (i, i % 2, i % 3) for i in range(12))
    (tmp_path / "evaluation.txt").write_bytes(triples)
    out = tmp_path / "out"
    assert main(["split", "open-questions", str(tmp_path / "evaluation.txt"), "--output", str(out), "--seed", "3"]) == 0
    report, made = asked("link-prediction", "open-questions", {}, evaluation=triples)
    assert report["parts"] == [{"name": "evaluation", "bytes": len(made)}]
    assert made == (out / "evaluation.jsonl").read_bytes()


def questions_of(*sources: tuple[str, str, bytes]) -> tuple[list[dict[str, Any]], bytes]:
    """sources: (role, name, content) each. The parts and the bytes of the questions that are made of them."""
    files = {str(place): io.BytesIO(body) for place, (*_, body) in enumerate(sources)}
    arguments = {
        "generator": "open-questions",
        "parameters": {},
        "sources": [[role, name] for role, name, _ in sources],
    }
    report, made = JOBS["generate"](files, {"task": "link-prediction", **arguments, "seed": 3, "salt": SALT})
    return report["parts"], made


def test_two_files_of_one_name_stay_two() -> None:
    evaluated, known = b"a\tr\tb\n", b"a\tr\tc\nd\tr\tb\n"
    apart = questions_of(("evaluation", "triples.txt", evaluated), ("known", "others.txt", known))
    assert questions_of(("evaluation", "triples.txt", evaluated), ("known", "triples.txt", known)) == apart
    assert questions_of(("evaluation", "triples.txt", evaluated)) != apart


def test_a_part_without_a_line_is_no_part() -> None:
    some, none = b"a\tr\tb\n", b"?\tr\t?\n"  # a mention that asks cannot be asked about
    parts, made = questions_of(("evaluation", "some.txt", some), ("evaluation", "none.txt", none))
    assert [part["name"] for part in parts] == ["some"]
    assert made == questions_of(("evaluation", "some.txt", some))[1]


def test_parts_stand_one_behind_the_other() -> None:
    lines = b"".join(b'{"id": "a%d", "facts": []}\n' % i for i in range(10))
    report, made = asked("fact-extraction", "holdout", {"parts": "train=0.3,test=0.7"}, gold=lines)
    sizes = [part["bytes"] for part in report["parts"]]
    assert sum(sizes) == len(made)
    pieces = [made[: sizes[0]], made[sizes[0] :]]
    assert [piece.count(b"\n") for piece in pieces] == [3, 7]
    assert sorted(b"".join(pieces).splitlines()) == sorted(lines.splitlines())


def test_a_generator_of_another_task_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a generator for metric-correlation"):
        asked("metric-correlation", "scenarios", {"relation": "p"}, graph=b"a\tp\tb\n")


def test_a_default_is_told_beside_what_a_parameter_is_and_by_each_side_in_its_own_way() -> None:
    for offer in OFFERS.values():
        parser = argparse.ArgumentParser()
        offer.generator.add_to(parser)
        helps = {action.dest: action.help or "" for action in parser._actions}
        for one in offer.generator.parameters:
            assert one.default_text == "" or one.default_text not in one.help.split("; ")
            assert helps[one.name].startswith(one.help)
            assert ("(default: " in helps[one.name].removeprefix(one.help)) == bool(one.default_text)
