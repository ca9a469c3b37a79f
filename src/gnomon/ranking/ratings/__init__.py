"""Rating methods: one number for each contestant."""
