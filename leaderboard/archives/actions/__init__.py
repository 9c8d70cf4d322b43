"""A whole benchmark as one file: what everybody may read beside a part that only a curator's key opens."""
