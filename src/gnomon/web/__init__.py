"""The web application: its server, its JSON interface, its pages."""
