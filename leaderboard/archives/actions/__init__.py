"""Export and import of a whole benchmark as one ZIP file.

The readable part contains public data only. The closed part (gold, submissions, scores, people) is encrypted to given
keys.
"""
