"""How many of the real bugs that are found are cured, and whether the cured programs behave like the repaired ones."""
