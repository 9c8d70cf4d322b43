"""From the judgements of several annotators to gold."""
