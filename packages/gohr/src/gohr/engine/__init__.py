"""The engine: rules compiled to tables, and one kernel that plays many boards at once."""
