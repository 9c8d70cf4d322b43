"""The disclosure policy of a phase: `policies` (what each reveals), `ladder` (the Ladder mechanism), `costs`."""
