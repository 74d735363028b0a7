"""Two models, two checkpoints, two runs: the first place where they diverge, and why."""

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")  # of checkpoints
