"""Shapes that a function promises: the text, and the decorator that tells of calls."""
