"""The world: rules at work on boards."""
