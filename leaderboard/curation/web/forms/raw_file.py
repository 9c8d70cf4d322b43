"""Form to add a raw file: the file itself, or a finished chunked upload."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.models import Dataset, RawUpload, User


class RawForm(forms.Form):
    """Form to add a raw file, which is sent with the request or as a chunked upload that is complete."""

    file = forms.FileField(label="File to upload", max_length=300, allow_empty_file=True, required=False)
    upload = forms.ModelChoiceField(RawUpload.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, user: User, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["upload"].queryset = RawUpload.objects.filter(by=user, dataset=dataset)  # type: ignore[attr-defined]
        self.fields["file"].is_one_of_two = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not data.get("file") and not data.get("upload"):
            self.add_error("file", "No file was uploaded; choose one.")
        return data
