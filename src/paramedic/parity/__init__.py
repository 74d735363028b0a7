"""Two models, two checkpoints, two runs: the first place where they part, and why."""

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")  # of checkpoints
