"""Forms to submit predictions or a container image, and to hide a submission."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from typing import Any, cast

from django import forms
from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.http import QueryDict

from leaderboard.boards.queries import facts, tracks
from leaderboard.boards.web.forms.facts import FactField
from leaderboard.models import ImageUpload, Phase, Submission, System, Team, User
from leaderboard.models.submission import systems_visible_to
from leaderboard.submissions.actions.hide import LONGEST_REASON
from leaderboard.submissions.queries.quotas import team_of_phase

UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ONE_IMAGE = "Choose an archive or enter an image in a registry, not both."


class SystemChoice(forms.ModelChoiceField):
    """Form field to choose a system; the choices are labelled with the names of the system and its team."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.team.name})"


class SystemForm(forms.Form):
    """Base class of submission forms.

    Fields: an existing system, which was submitted to this task or not at all, or the name of a new one; a track if the
    phase has tracks; a note; and the facts about the system for which the benchmark asks.
    """

    system = SystemChoice(System.objects.none(), required=False, empty_label="New system: enter its name below")
    new_system = forms.CharField(
        max_length=200,
        required=False,
        label="Name of the new system",
        help_text="Shown on the leaderboard.",
    )
    team = forms.ModelChoiceField(Team.objects.none(), required=False, label="Team of the new system", empty_label=None)
    track = forms.ChoiceField(
        widget=forms.RadioSelect, help_text="A system competes in one track of a phase. You cannot change it later."
    )
    note = forms.CharField(
        max_length=300, required=False, help_text="For your own list: a commit, a seed, a setting. Never published."
    )
    # New for each rendered form, and kept if the form is shown again with errors.
    once = forms.UUIDField(required=False, initial=uuid.uuid4, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: User, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_tracks(phase)
        self.facts = {fact.column: fact for fact in facts.of(phase.benchmark)}
        self.fields.update({name: FactField(fact, {}) for name, fact in self.facts.items()})
        systems = systems_visible_to(user).filter(team__in=user.teams.values("pk")).select_related("team")
        sent = Submission.objects.filter(system=OuterRef("pk"))
        of_this_task = sent.filter(phase__benchmark__task=phase.benchmark.task)
        systems = systems.filter(Exists(of_this_task) | ~Exists(sent)).order_by("name")
        teams = user.teams.order_by("membership__id")
        bound = team_of_phase(phase=phase, user=user)
        if bound is not None:  # the user may submit for this team alone, and for systems that do not compete
            systems = systems.filter(Q(team=bound) | ~Q(kind=System.Kind.PARTICIPANT))
            teams = teams.filter(Q(pk=bound.pk) | Q(baselines_of__isnull=False))
        self.fields["system"].queryset = systems  # type: ignore[attr-defined]
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        if user.teams.count() < 2:
            del self.fields["team"]
        if not systems:
            del self.fields["system"]
            self.fields["new_system"].required = True
        else:
            self.fields["system"].widget.attrs["data-filter"] = ""
            self._group_systems(list(systems), phase)
        for name in ("system", "new_system"):
            # Exactly one of the two fields is required: the template must not label a conditional field as optional.
            if name in self.fields:
                self.fields[name].is_conditional = True  # type: ignore[attr-defined]

    def _group_systems(self, systems: list[System], phase: Phase) -> None:
        """Group the choices of the field `system` under two headings.

        First come the systems that were submitted to the phase's benchmark, then the other systems. If one of the
        groups is empty, there are no headings.
        """
        here = Submission.objects.filter(phase__benchmark=phase.benchmark_id, system__in=systems)
        keys = set(here.values_list("system", flat=True))
        field = self.fields["system"]
        assert isinstance(field, SystemChoice)
        groups: dict[bool, list[tuple[int, str]]] = {True: [], False: []}
        for system in systems:
            groups[system.pk in keys].append((system.pk, field.label_from_instance(system)))
        if groups[True] and groups[False]:
            names = {True: "In this benchmark", False: "In other benchmarks"}
            listed = [(names[is_here], choices) for is_here, choices in groups.items()]
            field.choices = [("", field.empty_label), *listed]

    def _offer_tracks(self, phase: Phase) -> None:
        offered = tracks.of(phase)
        if not offered:
            del self.fields["track"]
            return
        field = self.fields["track"]
        choices = [(row.name, f"{row.title}: {row.description}" if row.description else row.title) for row in offered]
        field.choices = choices  # type: ignore[attr-defined]
        expected = f"expected one of {', '.join(row.title for row in offered)}."
        field.error_messages = {
            "required": f"No track was chosen; {expected}",
            "invalid_choice": f"%(value)s is not a track of this phase; {expected}",
        }

    def idempotency_key(self, file_sha256: str = "") -> str:
        """Return the idempotency key of the submitted form; empty if its field `once` is missing or invalid.

        Everything that was entered is part of the key: a form to which the user has gone back can send something else,
        as another submission. file_sha256: of the file that was sent with the form.
        """
        once = self.data.get("once", "")
        if not UUID_TEXT.fullmatch(once):
            return ""
        names = sorted({*self.data} - {"csrfmiddlewaretoken", "again"})
        data = cast(QueryDict, self.data)
        entered = [[name, data.getlist(name)] for name in names]
        digest = hashlib.sha256(json.dumps([entered, file_sha256]).encode()).hexdigest()
        return f"form-{once}-{digest}"

    @property
    def fact_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.facts]

    @property
    def facts_have_errors(self) -> bool:
        return any(name in self.errors for name in self.facts)

    @property
    def stated(self) -> dict[str, facts.Value]:
        """Entered values of facts about the system, by the facts' names."""
        values = {fact.name: self.cleaned_data[column] for column, fact in self.facts.items()}
        return {name: value for name, value in values.items() if value is not None}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        if cleaned.get("system") and cleaned.get("new_system"):
            self.add_error("system", "Both a system and a new name are given; expected one of them.")
        elif not cleaned.get("system") and not cleaned.get("new_system"):
            self.add_error("new_system", "No system is given; choose one of yours, or enter a new name.")
        return cleaned


class SubmissionForm(SystemForm):
    """Form to submit a predictions file."""

    file = forms.FileField(label="Predictions file", max_length=300, allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".jsonl,.jsonl.gz,.gz,application/x-ndjson"


class ImageForm(SystemForm):
    """Form to submit a container image, by exactly one of the fields `file`, `upload` and `reference`.

    file: an archive of the image; upload: a complete chunked upload of an archive; reference: name of an image in a
    registry, with its digest.
    """

    file = forms.FileField(label="Archive of the image", max_length=300, allow_empty_file=True, required=False)
    reference = forms.CharField(max_length=400, required=False, label="Or an image in a registry, by digest")
    upload = forms.ModelChoiceField(ImageUpload.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: User, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, user=user, phase=phase, **kwargs)
        uploads = ImageUpload.objects.filter(by=user, phase=phase).select_related("phase__benchmark", "phase__split")
        self.fields["upload"].queryset = uploads  # type: ignore[attr-defined]
        file, reference = self.fields["file"], self.fields["reference"]
        file.widget.attrs["accept"] = ".tar,application/x-tar"
        file.is_conditional = True  # type: ignore[attr-defined]
        reference.is_conditional = True  # type: ignore[attr-defined]
        reference.help_text = f"registry/name@sha256:… from {', '.join(settings.REGISTRIES)}"
        reference.widget.attrs["spellcheck"] = "false"
        if not settings.REGISTRIES:
            del self.fields["reference"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        sources = [name for name in ("file", "reference", "upload") if cleaned.get(name)]
        if not self.errors and len(sources) != 1:
            self.add_error("file", ONE_IMAGE if "reference" in self.fields else "Choose the archive of your image.")
        return cleaned


class HideForm(forms.Form):
    """Form for the organisers' reason to hide a submission."""

    reason = forms.CharField(
        max_length=LONGEST_REASON, help_text="Only the submission's team and the organisers can see it."
    )
