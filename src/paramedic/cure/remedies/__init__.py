"""One remedy, or a few that belong together, per file. They are found by themselves."""
