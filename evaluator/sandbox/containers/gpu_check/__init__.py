"""Checks of a host with GPUs, run by `deploy/check-gpu`: a container sees the GPUs that it asks for, and no others."""
