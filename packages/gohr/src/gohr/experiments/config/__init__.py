"""Definition of an experiment: its fields in a file, its rules, learners and boards."""
