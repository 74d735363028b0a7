"""Probes that watch what is called around an optimizer's step."""
