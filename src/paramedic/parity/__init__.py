"""Two models, two checkpoints, two runs: the first place where they part, and why."""
