"""The JSON interface: what programs ask the server, described by ``/openapi.json``."""
