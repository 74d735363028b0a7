"""The places that patch torch: they see what the program does and tell the probes."""
