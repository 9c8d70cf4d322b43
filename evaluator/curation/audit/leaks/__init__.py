"""Label leaks: ids, order, columns or cue words that reveal hidden values of a split.

This is one of three senses of leakage. The others:

- from training files into a test split, between texts or triples: `evaluator.curation.audit.duplicates.train_overlap`
  finds it; for open triples `evaluator.curation.open_triples.leakage` removes it, as `split remove-leakage`
  (`evaluator.curation.generators.remove_leakage`);
- from the test answers into the systems, through the scores that a board reveals (adaptive overfitting):
  `leaderboard/scoring/queries/leakage_budget.py`.
"""
