"""Stored files as such: arriving in pieces, checked, swept away."""
