"""Play of hidden seasons on the server's side."""
