"""Why two layers differ: candidates, one file per idea. Each is a change that the live side is tried with."""
