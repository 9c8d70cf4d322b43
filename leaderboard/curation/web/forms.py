"""Forms of raw files, generators and previews.

A generator's form is built from the parameters that it declares, like its command-line options.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.html import escape

from evaluator.curation.generators.catalog import OFFERS, SEED_BELOW, Offer
from evaluator.curation.generators.parameters import Kind, Parameter, ParameterError
from leaderboard.core.web.options_field import OptionsField
from leaderboard.models import Dataset, Generation, RawFile, RawUpload, Split, User

SOURCE, PARAMETER = "source_", "parameter_"


class RawForm(forms.Form):
    """Form to add a raw file, which the request contains or which is a complete chunked upload of the user."""

    file = forms.FileField(label="File to upload", max_length=300, allow_empty_file=True, required=False)
    upload = forms.ModelChoiceField(RawUpload.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: User, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["upload"].queryset = RawUpload.objects.filter(by=user, dataset=dataset)  # type: ignore[attr-defined]
        self.fields["file"].is_conditional = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not data.get("file") and not data.get("upload"):
            self.add_error("file", "No file was uploaded; choose one.")
        return data


class GeneratorForm(forms.Form):
    """Form to request a preview. Its fields are those that the generator declares: raw files, parameters, seed."""

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
        self.fields["options"] = OptionsField(label="Task options")
        if offer.generator.seeded:
            self.fields["seed"] = forms.IntegerField(
                required=False,
                min_value=0,
                max_value=SEED_BELOW - 1,
                help_text="Leave empty to choose one at random. Keep it secret: the seed and the raw files "
                "reproduce the split.",
            )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for parameter in self.offer.parameters:
            name = PARAMETER + parameter.name
            if name in data:
                try:
                    parameter.parse_form_field(_text(data[name]))
                except ParameterError as error:
                    self.add_error(name, f"{parameter.title} {error}.")
        return data

    @property
    def sources(self) -> dict[str, list[RawFile]]:
        """Chosen raw files of a valid form, by the name of the source that the generator declares."""
        chosen = {source.name: self.cleaned_data[SOURCE + source.name] for source in self.offer.sources}
        return {name: [value] if isinstance(value, RawFile) else list(value or ()) for name, value in chosen.items()}

    @property
    def parameters(self) -> dict[str, str]:
        """Values of a valid form as text, by the name of the generator's parameter."""
        return {
            parameter.name: _text(self.cleaned_data[PARAMETER + parameter.name]) for parameter in self.offer.parameters
        }


def initial_of(generation: Generation) -> dict[str, Any]:
    """Return initial form values by field name: the files, parameters, options and seed of an earlier preview."""
    values: dict[str, Any] = {PARAMETER + name: text for name, text in generation.parameters.items()}
    for source in generation.sources.all():
        values.setdefault(SOURCE + source.role, []).append(source.raw_id)
    options = "\n".join(f"{name}={value}" for name, value in generation.options.items())
    several = {SOURCE + declared.name for declared in OFFERS[generation.generator].sources if declared.several}
    return {
        **{
            name: value if name in several or not isinstance(value, list) else value[0]
            for name, value in values.items()
        },
        "options": options,
        "seed": generation.seed,
    }


def _files(dataset: Dataset, several: bool, **kwargs: Any) -> forms.Field:
    rows = dataset.raw_files.all()
    field: _File | _Files
    if several:
        field = _Files(rows, widget=forms.CheckboxSelectMultiple, **kwargs)
    else:
        field = _File(rows, empty_label="Choose a raw file" if kwargs["required"] else "None", **kwargs)
    names = Counter(rows.values_list("name", flat=True))
    field.twice = {name for name, n in names.items() if n > 1}
    return field


class _Named:
    """Mixin of choice fields that labels each raw file by its name.

    twice: names that several raw files have; their labels also have date and digest.
    """

    twice: Collection[str] = ()

    def label_from_instance(self, obj: RawFile) -> str:
        if obj.name not in self.twice:
            return obj.name
        return f"{obj.name}, of {obj.uploaded_at:%Y-%m-%d %H:%M} UTC, SHA-256 {obj.sha256[:8]}…"


class _File(_Named, forms.ModelChoiceField):
    """Form field to choose one raw file."""


class _Files(_Named, forms.ModelMultipleChoiceField):
    """Form field to choose any number of raw files."""


def _field(parameter: Parameter, default: str) -> forms.Field:
    kwargs: dict[str, Any] = {
        "label": parameter.title,
        "help_text": escape(_help(parameter, default)),
        "required": False,
    }
    if parameter.kind is Kind.FLAG:
        return forms.BooleanField(**kwargs)
    kwargs |= {"initial": default, "required": parameter.required}
    if parameter.kind is Kind.WHOLE:
        return forms.IntegerField(
            min_value=parameter.lowest, max_value=parameter.highest or 10**9, **{**kwargs, "required": False}
        )
    if parameter.kind is Kind.CHOICE:
        return forms.ChoiceField(choices=[(name, name) for name in parameter.choices], **kwargs)
    field = forms.CharField(max_length=500, **kwargs)
    field.widget.attrs |= {"spellcheck": "false", "autocomplete": "off"}
    return field


def _help(parameter: Parameter, default: str) -> str:
    """Return the help text of a parameter's form field: that of the command line, with the default if it may be empty.

    default: as text; empty: none.
    """
    text = _sentence(parameter.help.removesuffix("; may be repeated"))
    if parameter.kind is Kind.KEYS:
        text += " Separate several by commas."
    may_be_empty = parameter.kind not in (Kind.CHOICE, Kind.FLAG) and not parameter.required
    return f"{text} Default: {default}." if default and may_be_empty else text


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)


class DraftForm(forms.Form):
    """Form for one part of a preview: whether to create a draft split from the part, and the split's settings."""

    take = forms.BooleanField(required=False, initial=True)
    name = forms.SlugField(max_length=80, required=False)
    kind = forms.ChoiceField(choices=Split.Kind.choices)
    gold_public = forms.BooleanField(required=False, label="Publish the gold")
    hide_inputs = forms.BooleanField(required=False, label="Hide the inputs too")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].is_conditional = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("take") and not data.get("name") and "name" not in self.errors:
            self.add_error("name", "The name is empty; enter a name for the split.")
        return data
