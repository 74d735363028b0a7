"""Measurements: `make bench` (what watching costs) and `make accuracy` (what it finds, and what it says wrongly)."""
