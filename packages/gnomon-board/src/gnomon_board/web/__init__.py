"""The web application: pages, JSON interface, server, backups, logs."""
