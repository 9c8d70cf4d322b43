"""Accounts' sides of the site: teams, who belongs to them, names, tokens, curators."""
