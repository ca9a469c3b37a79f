"""The hidden division: trials played through the server, which keeps the rule."""
