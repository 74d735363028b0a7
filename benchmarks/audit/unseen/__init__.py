"""Faults as strangers make them, in files and scripts, written down before the audit's checks were read."""
