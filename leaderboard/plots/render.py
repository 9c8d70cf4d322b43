"""Rendering of Vega-Lite specifications as pictures.

Run as a program, it reads {name: specification} from its input, and writes {name: [SVG, PNG in base64]}, both as JSON.
vl-convert starts a JavaScript engine, which takes a second and 100 MB; so it runs in a process that ends afterwards.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

TIMEOUT_SECONDS = 120
VERSION = "6.4"
"""Version of Vega-Lite among those that vl-convert contains."""


def rendered(specs: Mapping[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return (SVG, PNG) of each specification by its name, on white, rendered in another process.

    Raises subprocess.SubprocessError if that fails or takes longer than TIMEOUT_SECONDS.
    """
    if not specs:
        return {}
    output = subprocess.run(  # noqa: S603  (no input in the arguments)
        [sys.executable, "-I", __file__],
        input=json.dumps(specs),
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_SECONDS,
    ).stdout
    return {name: (svg, base64.b64decode(png)) for name, (svg, png) in json.loads(output).items()}


def _render(spec: dict[str, Any]) -> tuple[str, str]:
    import vl_convert

    white = {**spec, "config": {**spec["config"], "background": "white"}}
    options: dict[str, Any] = {"vl_version": VERSION, "allowed_base_urls": []}
    png = vl_convert.vegalite_to_png(white, scale=2, **options)
    return vl_convert.vegalite_to_svg(white, **options), base64.b64encode(png).decode()


if __name__ == "__main__":
    json.dump({name: _render(spec) for name, spec in json.load(sys.stdin).items()}, sys.stdout)
