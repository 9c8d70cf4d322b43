"""Disclosure of scores: `policies` (the disclosure policies of phases), `ladder` (the Ladder mechanism), `costs`."""
