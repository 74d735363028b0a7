"""Probes that watch how the program measures its model."""
