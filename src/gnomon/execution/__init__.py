"""Many independent pieces of work: here, or on several processes. It knows not what they are."""
