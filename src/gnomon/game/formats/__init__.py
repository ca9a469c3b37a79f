"""Files and random numbers of the reference system: boards, trial lists, pictures."""
