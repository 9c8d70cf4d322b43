"""What is told to people who do not look: mails, webhooks, and when."""
