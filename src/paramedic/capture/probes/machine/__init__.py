"""Probes that watch time, memory, devices and processes."""
