"""Gold decided from the judgements of several annotators."""
