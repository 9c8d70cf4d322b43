"""A generator's form, made of what the generator declares; its flags on a command line are made of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.html import escape

from evaluator.curation.generators.catalog import OFFERS, SEED_BELOW, Offer
from evaluator.curation.generators.parameters import Kind, Parameter, ParameterError
from leaderboard.core.web.options_field import OptionsField
from leaderboard.models import Dataset, Generation, RawFile, Split

SOURCE, PARAMETER = "source_", "parameter_"


class GeneratorForm(forms.Form):
    """Fields in the order in which a generator declares them: files, parameters, then the seed."""

    def __init__(self, *args: Any, offer: Offer, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer = offer
        for source in offer.sources:
            self.fields[SOURCE + source.name] = _files(
                dataset,
                source.several,
                label=source.title,
                help_text=escape(_sentence(source.help)),
                required=source.required,
            )
        for parameter in offer.parameters:
            self.fields[PARAMETER + parameter.name] = _field(parameter, offer.default(parameter, dataset.task))
        self.fields["options"] = OptionsField(label="Options of the task")
        if offer.generator.seeded:
            self.fields["seed"] = forms.IntegerField(
                required=False,
                min_value=0,
                max_value=SEED_BELOW - 1,
                help_text="Empty: one is drawn. Keep it to yourselves: whoever has it and the raw files has the split.",
            )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        for parameter in self.offer.parameters:
            name = PARAMETER + parameter.name
            if name in found:
                try:
                    parameter.filled(_text(found[name]))
                except ParameterError as error:
                    self.add_error(name, f"{parameter.title} {error}.")
        return found

    @property
    def sources(self) -> dict[str, list[RawFile]]:
        """Of a valid form: raw files by what they are to the generator."""
        given = {source.name: self.cleaned_data[SOURCE + source.name] for source in self.offer.sources}
        return {name: [value] if isinstance(value, RawFile) else list(value or ()) for name, value in given.items()}

    @property
    def parameters(self) -> dict[str, str]:
        """Of a valid form: what was filled in, as texts."""
        return {one.name: _text(self.cleaned_data[PARAMETER + one.name]) for one in self.offer.parameters}


def initial_of(generation: Generation) -> dict[str, Any]:
    """What a form begins with that is to be filled in again."""
    given: dict[str, Any] = {PARAMETER + name: text for name, text in generation.parameters.items()}
    for source in generation.sources.all():
        given.setdefault(SOURCE + source.role, []).append(source.raw_id)
    options = "\n".join(f"{name}={value}" for name, value in generation.options.items())
    several = {SOURCE + one.name for one in OFFERS[generation.generator].sources if one.several}
    return {
        **{
            name: value if name in several or not isinstance(value, list) else value[0] for name, value in given.items()
        },
        "options": options,
        "seed": generation.seed,
    }


def _files(dataset: Dataset, several: bool, **told: Any) -> forms.Field:
    rows = dataset.raw_files.all()
    field: _File | _Files
    if several:
        field = _Files(rows, widget=forms.CheckboxSelectMultiple, **told)
    else:
        field = _File(rows, empty_label="Choose a raw file" if told["required"] else "None", **told)
    names = Counter(rows.values_list("name", flat=True))
    field.twice = {name for name, n in names.items() if n > 1}
    return field


class _Named:
    """Raw files by name, and by moment and digest where two have the same (`twice`)."""

    twice: Collection[str] = ()

    def label_from_instance(self, obj: RawFile) -> str:
        if obj.name not in self.twice:
            return obj.name
        return f"{obj.name}, of {obj.uploaded_at:%Y-%m-%d %H:%M} UTC, SHA-256 {obj.sha256[:8]}…"


class _File(_Named, forms.ModelChoiceField):
    """One of them."""


class _Files(_Named, forms.ModelMultipleChoiceField):
    """Any of them."""


def _field(parameter: Parameter, default: str) -> forms.Field:
    told: dict[str, Any] = {"label": parameter.title, "help_text": escape(_help(parameter, default)), "required": False}
    if parameter.kind is Kind.YES:
        return forms.BooleanField(**told)
    told |= {"initial": default, "required": parameter.required}
    if parameter.kind is Kind.WHOLE:
        return forms.IntegerField(
            min_value=parameter.lowest, max_value=parameter.highest or 10**9, **{**told, "required": False}
        )
    if parameter.kind is Kind.CHOICE:
        return forms.ChoiceField(choices=[(name, name) for name in parameter.choices], **told)
    field = forms.CharField(max_length=500, **told)
    field.widget.attrs |= {"spellcheck": "false", "autocomplete": "off"}
    return field


def _help(parameter: Parameter, default: str) -> str:
    """What the command line says, where a form says it otherwise in its own words; and what an empty field means."""
    told = _sentence(parameter.help.removesuffix("; may be repeated"))
    if parameter.kind is Kind.KEYS:
        told += " Several stand between commas."
    may_be_empty = parameter.kind not in (Kind.CHOICE, Kind.YES) and not parameter.required
    return f"{told} Empty: {default}." if default and may_be_empty else told


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)


class DraftForm(forms.Form):
    """A part of a preview, and the split that it shall become."""

    take = forms.BooleanField(required=False, initial=True)
    name = forms.SlugField(max_length=80, required=False)
    kind = forms.ChoiceField(choices=Split.Kind.choices)
    gold_public = forms.BooleanField(required=False, label="Publish the gold")
    hide_inputs = forms.BooleanField(required=False, label="Hide the inputs too")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].is_one_of_two = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if found.get("take") and not found.get("name") and "name" not in self.errors:
            self.add_error("name", "A name is needed.")
        return found
