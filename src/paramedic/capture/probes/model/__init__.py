"""Probes that watch the model: its modules, parameters, modes and outputs."""
