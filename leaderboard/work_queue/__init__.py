"""The queues of background work: `work` (the state machine with retries), `lease`, `enqueue`, `worker_status`.

The names of the queues are in `leaderboard.operations.metrics` (QUEUES); `leaderboard.operations.processes` says which
process serves which queue.
"""
