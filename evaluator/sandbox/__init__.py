"""Where untrusted bytes meet hidden gold: a server that forks one confined child for each job.

`contract` says what any sandbox does, `process` is the client of the one for scorers and validation,
`launch` starts its server. `docs/sandbox.md` tells the whole story.
"""
