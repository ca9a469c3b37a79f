"""Who is better than whom, and which of it the data can tell."""
