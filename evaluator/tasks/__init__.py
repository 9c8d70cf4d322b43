"""One module or package a task."""
