"""Generation and audit of benchmark data before publication."""
