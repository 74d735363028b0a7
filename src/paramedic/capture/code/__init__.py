"""Readers of the user's source code."""
