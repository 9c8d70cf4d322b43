"""Near-duplicates of submissions: predictions nearly equal to another team's.

Similar texts within a split are found by its audit: `evaluator.curation.audit.duplicates`.
"""
