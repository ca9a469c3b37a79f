"""A learner that is a language model: its prompt, the endpoint, and what was said and spent."""
