"""Probes that watch how the loss is computed, and from what."""
