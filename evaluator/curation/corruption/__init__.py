"""Texts whose dates, places or people have changed places: what an extractor should then get (Goodrich et al. 2019)."""
