"""Reference systems for metric-correlation that compare the words of a text and its reference: ROUGE."""
