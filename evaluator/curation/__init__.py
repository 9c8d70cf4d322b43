"""How benchmark data are made and checked before they are published."""
