"""Probes that watch what the data loaders and datasets give."""
