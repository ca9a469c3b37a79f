"""Files that appear whole, text with a place in it, and when Python looks for garbage."""
