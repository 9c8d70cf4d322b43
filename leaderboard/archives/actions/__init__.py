"""Export and import of a whole benchmark as one file: a readable part, and a part encrypted to curators' keys."""
