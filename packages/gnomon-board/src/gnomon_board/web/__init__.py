"""The web application: server, middleware, JSON API, pages, operations."""
