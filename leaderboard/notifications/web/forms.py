"""Form to add a webhook."""

from __future__ import annotations

from django import forms


class WebhookForm(forms.Form):
    url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
        help_text="https://… on the public internet. We send it a POST request with JSON for each event that you are "
        "notified of, for example when a submission of your teams finishes.",
    )
