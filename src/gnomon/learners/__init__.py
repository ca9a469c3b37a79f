"""Players that learn, one file each."""
