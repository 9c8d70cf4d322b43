"""Sandboxes for jobs on untrusted bytes and hidden gold.

`contract` defines the interface. `process` is a server that forks one confined child per job (scoring, validation),
with its client and launcher; `confinement` has the layers that confine the child. `containers` runs submitted images.
See `docs/sandbox.md`.
"""
