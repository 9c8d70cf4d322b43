"""Near-duplicates of submissions: predictions nearly equal to another team's. Similar texts are found by the audit."""
