"""The queue of background work: `work` (the state machine with retries), `lease`, `enqueue`, `worker_status`."""
