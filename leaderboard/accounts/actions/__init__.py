"""Actions on accounts: teams, membership, invitations, tokens, curators."""
