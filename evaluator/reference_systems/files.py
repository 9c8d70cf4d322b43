"""The kinds of files that reference systems read. The module imports nothing slow, since --help lists the kinds."""

from __future__ import annotations

INPUTS = "inputs"
FILES = {
    "graph": "a knowledge graph: triples, tab-separated (3 or 5 columns)",
    "valid": "further triples, in the format of --graph, to choose the best epoch by",
    "train": "public gold",
    "weights": "weights of the claims of --train, as `split reweight` writes them",
    "aliases": "links of names: name and link, tab-separated; a name's first link is used",
}
"""The kinds of files that a system may read besides the inputs, with a description. Each is an option of the command
line and may be repeated."""
