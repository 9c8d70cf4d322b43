"""Export and import of a whole benchmark as one ZIP file.

The readable part has what is public. The closed part (gold, submissions, scores, people) is encrypted to given keys.
"""
