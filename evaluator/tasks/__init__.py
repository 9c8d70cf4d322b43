"""Benchmark tasks, one module or package per task."""
