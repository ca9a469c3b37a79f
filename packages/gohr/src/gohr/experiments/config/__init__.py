"""What an experiment is: its fields in a file, its rules, learners and boards."""
