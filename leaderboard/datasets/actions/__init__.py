"""Splits and their gold: kept, checked, audited, published, corrected."""
