"""Pages of who submits: accounts, registration, submissions and how to send them in."""
