"""Texts with permuted dates, places or people, and the scores to expect on them (Goodrich et al. 2019)."""
