"""Disclosure of scores: `policies` (what each disclosure policy reveals), `ladder` (the Ladder mechanism), `costs`."""
