"""Boards and plots computed again from stored runs, to prove that what was shown follows from them."""
