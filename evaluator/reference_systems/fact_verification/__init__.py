"""Reference systems for fact-verification: logistic regression on the claim alone, or on claim and evidence."""
