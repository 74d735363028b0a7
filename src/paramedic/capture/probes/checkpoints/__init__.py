"""Probes that watch what is saved and loaded."""
