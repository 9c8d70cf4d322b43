"""Sandboxes for jobs on untrusted bytes and hidden gold.

`contract` defines the interface. `process` is a server that forks one confined child per job (scoring, validation),
with its client and launcher; `confinement` confines the child, by layers such as seccomp and Landlock. `containers`
runs submitted images. See `docs/sandbox.md`.
"""
