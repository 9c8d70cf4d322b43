"""What is said of two or more systems: rank ranges, side by side, near-copies."""
