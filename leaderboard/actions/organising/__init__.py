"""Benchmarks and phases, as those who run them make and keep them."""
